-- Each thread sends the statements of its own file, a line each, once and in order: fixed work, the same for every variant.
-- sysbench 1.0. What follows the word "cpu" is this process's CPU time at the thread's start and end.

sysbench.cmdline.options = {
   statements = {"Folder with a file of statements for each thread", ""}
}

function thread_init()
   connection = sysbench.sql.driver():connect()
   statements = {}
   for line in io.lines(sysbench.opt.statements .. "/" .. sysbench.tid) do
      statements[#statements + 1] = line
   end
end

function thread_run()
   local begun = os.clock()
   -- Results are freed with their Lua objects: an explicit free crashes sysbench 1.0.20.
   for _, statement in ipairs(statements) do
      connection:query(statement)
   end
   io.write(string.format("cpu %.6f %.6f\n", begun, os.clock()))
end

-- Never called: thread_run replaces the loop, but sysbench insists on it.
function event()
end

function thread_done()
   connection:disconnect()
end
