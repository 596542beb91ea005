-- Multi-row inserts into several MyISAM tables: each thread into its own, as in the published case of 2008.
-- sysbench 1.0; the tables are made by the program that starts this script.

sysbench.cmdline.options = {
   tables = {"Number of tables", 8},
   rows_per_insert = {"Rows in each INSERT", 20},
   string_keys = {"1 when the tables have CHAR and VARCHAR keys", 1},
   one_table = {"1 when all threads insert into the first table", 0}
}

function thread_init()
   connection = sysbench.sql.driver():connect()
   local number = sysbench.opt.one_table == 1 and 1 or sysbench.tid % sysbench.opt.tables + 1
   table_name = "load_" .. number
end

function event()
   local values = {}
   for row = 1, sysbench.opt.rows_per_insert do
      local key = sysbench.rand.uniform(1, 1000000)
      if sysbench.opt.string_keys == 1 then
         values[row] = string.format("(%d, '%s', '%s')", key, sysbench.rand.string("@@@@@@@@-###-####"), sysbench.rand.string("http://@@@@@@@@.example/@@@@/####"))
      else
         values[row] = string.format("(%d)", key)
      end
   end
   local columns = sysbench.opt.string_keys == 1 and "(k, c, v)" or "(k)"
   connection:query("INSERT INTO " .. table_name .. " " .. columns .. " VALUES " .. table.concat(values, ","))
end

function thread_done()
   connection:disconnect()
end
