-- Statements that need an index and no row: what they wait for are index blocks.
function thread_init()
  connection = sysbench.sql.driver():connect()
end

function event()
  connection:query(string.format("SELECT COUNT(*) FROM sbtest1 WHERE k = %d", sysbench.rand.uniform(1, sysbench.opt.table_size)))
end

sysbench.cmdline.options = {table_size = {"Rows", 100000}}
