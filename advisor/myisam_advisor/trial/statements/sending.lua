-- Recorded statements, sent as they were recorded: each thread its own file, byte for byte, with the delays and the order that the file says.
-- sysbench 1.0 gives threads and LuaJIT; the client library that sysbench is linked with is called directly, because its own driver
-- neither takes a statement with a NUL nor tells rows, times or errors of single statements. Layouts: schedule.py and answers.py.

local ffi = require("ffi")
local bit = require("bit")

sysbench.cmdline.options = {
   statements = {"Folder with a file of records for each thread", ""},
   pace = {"max, or 1 for the recorded moments", "max"},
   socket = {"The server's socket", ""},
   account = {"Who sends", "root"},
   stop = {"Seconds after which nothing more is sent, once all threads have begun (0: never)", 0}
}

ffi.cdef[[
typedef struct MYSQL MYSQL;
typedef struct MYSQL_RES MYSQL_RES;
MYSQL *mysql_init(MYSQL *);
int mysql_options(MYSQL *, int, const void *);
MYSQL *mysql_real_connect(MYSQL *, const char *, const char *, const char *, const char *, unsigned int, const char *, unsigned long);
int mysql_real_query(MYSQL *, const char *, unsigned long);
unsigned int mysql_field_count(MYSQL *);
MYSQL_RES *mysql_store_result(MYSQL *);
MYSQL_RES *mysql_use_result(MYSQL *);
char **mysql_fetch_row(MYSQL_RES *);
unsigned long long mysql_num_rows(MYSQL_RES *);
void mysql_free_result(MYSQL_RES *);
unsigned long long mysql_affected_rows(MYSQL *);
unsigned int mysql_errno(MYSQL *);
const char *mysql_info(MYSQL *);
int mysql_next_result(MYSQL *);
void mysql_close(MYSQL *);
int mysql_select_db(MYSQL *, const char *);

typedef struct { int64_t seconds; int64_t nanoseconds; } replay_time;
int clock_gettime(int, replay_time *);
int clock_nanosleep(int, int, const replay_time *, replay_time *);
int sched_yield(void);
int open(const char *, int, ...);
int close(int);
int64_t lseek(int, int64_t, int);
void *mmap(void *, size_t, int, int, int, int64_t);
long syscall(long, ...);

typedef struct { uint32_t bytes; uint8_t action; uint8_t large; uint16_t handle; uint32_t tickets; uint32_t unused; uint64_t at; } replay_record;
typedef struct { uint32_t counter, number, before, unused; } replay_ticket;
typedef struct { uint64_t begun, ended, cpu_begun, cpu_ended, waited, lost, late, unconnected; } replay_thread;
typedef struct { uint64_t begun, duration, rows, affected; uint32_t error, sent; } replay_answer;
typedef struct { volatile uint64_t start; volatile uint64_t lost_at; volatile uint64_t begun; volatile uint32_t lost; uint32_t tables; volatile uint32_t ready[512]; volatile uint32_t counters[1]; } replay_shared;
]]

local C = ffi.C
local OPEN, CLOSE, USE, UNLOCK = 1, 2, 3, 4
local REALTIME_CPU, MONOTONIC, ABSOLUTE = 2, 1, 1
local READ_ONLY, READ_WRITE, PROTECT_READ, PROTECT_BOTH, SHARED, TO_END = 0, 2, 1, 3, 1, 2
local CHARSET_NAME, LOCAL_INFILE = 7, 8
local MULTI_RESULTS = 131072
-- futex(2): the numbers of the system call where LuaJIT runs.
local FUTEX = ({x64 = 202, x86 = 240, arm64 = 98, arm = 240, ppc = 221, mips64 = 5194})[jit.arch]
local WAIT_BITS, WAKE_BITS, EVERYBODY = 9, 10, 2147483647
local SECOND = 1000000000ULL
-- A write whose turn does not come in this time is sent all the same. From then on the others wait half as long, and after so many nobody waits any more: what never
-- comes holds up a run for twice this time in all.
local PATIENCE, MAXIMUM_LOST = 5ULL * SECOND, 20
local LATE = 1000000ULL
local PAUSE = 5000000ULL
local NO_CONNECTION = 2013
-- A socket whose queue is full refuses at once, where the network would wait. A server that is gone does the same, so it is asked again for a second, and later no more.
local NOT_ANSWERED, MAXIMUM_TRIES = 2002, 200
local SENT, FOUND_ALIKE = 1, 3
local READY, BEGUN = 1, 2

-- The library prepares itself when it is first called: now, before there are threads.
C.mysql_close(C.mysql_init(nil))

local clock = ffi.new("replay_time")
local function now()
   C.clock_gettime(MONOTONIC, clock)
   return ffi.cast("uint64_t", clock.seconds) * SECOND + ffi.cast("uint64_t", clock.nanoseconds)
end

local function cpu()
   C.clock_gettime(REALTIME_CPU, clock)
   return ffi.cast("uint64_t", clock.seconds) * SECOND + ffi.cast("uint64_t", clock.nanoseconds)
end

local function mapped(path, writable)
   local file = C.open(path, writable and READ_WRITE or READ_ONLY)
   if file < 0 then error("cannot open " .. path) end
   local length = C.lseek(file, 0, TO_END)
   local memory = C.mmap(nil, length, writable and PROTECT_BOTH or PROTECT_READ, SHARED, file, 0)
   C.close(file)
   if ffi.cast("intptr_t", memory) == -1 then error("cannot map " .. path) end
   return ffi.cast("uint8_t *", memory), tonumber(length)
end

local function sleep_until(moment)
   local wanted = ffi.new("replay_time")
   wanted.seconds = moment / SECOND
   wanted.nanoseconds = moment % SECOND
   C.clock_nanosleep(MONOTONIC, ABSOLUTE, wanted, nil)
end

local moment = ffi.new("replay_time")
local function wait_for(counter, done, number)
   -- Asleep until somebody wakes us whose number is like ours in its last five bits. Two who move a counter at once may move it by one: then the time limit wakes us.
   local value, limit = counter[0], now() + PAUSE
   if done[number] ~= 0 then return end
   if FUTEX == nil then
      C.sched_yield()
   else
      moment.seconds, moment.nanoseconds = limit / SECOND, limit % SECOND
      C.syscall(FUTEX, ffi.cast("uint32_t *", counter), ffi.cast("int", WAIT_BITS), ffi.cast("unsigned int", value), ffi.cast("void *", moment), ffi.cast("void *", 0),
         ffi.cast("unsigned int", bit.lshift(1, bit.band(number, 31))))
   end
end

local function wake(counter, number)
   if FUTEX ~= nil then
      C.syscall(FUTEX, counter, ffi.cast("int", WAKE_BITS), ffi.cast("int", EVERYBODY), ffi.cast("void *", 0), ffi.cast("void *", 0),
         ffi.cast("unsigned int", bit.lshift(1, bit.band(number, 31))))
   end
end

function thread_init()
   folder = sysbench.opt.statements
   records, records_length = mapped(folder .. "/" .. sysbench.tid)
   results = mapped(folder .. "/" .. sysbench.tid .. ".answers", true)
   shared = ffi.cast("replay_shared *", mapped(folder .. "/shared", true))
   bases = ffi.cast("uint32_t *", shared.counters + math.max(shared.tables, 1))
   writes_done = ffi.cast("volatile uint8_t *", bases + math.max(shared.tables, 1))
   passed, is_gone = {}, false
   socket, account, paced = sysbench.opt.socket, sysbench.opt.account, sysbench.opt.pace ~= "max"
end

local function begin()
   -- All threads begin at one moment, which the first of them sets.
   shared.ready[sysbench.tid] = READY
   if sysbench.tid == 0 then
      local limit = now() + 30ULL * SECOND
      for thread = 0, sysbench.opt.threads - 1 do
         -- Asleep: where processors are few, what is taken of them here is what the others need to begin.
         while shared.ready[thread] == 0 and now() < limit do sleep_until(now() + 200000ULL) end
      end
      shared.start = now() + 5000000ULL
   end
   while shared.start == 0 do sleep_until(now() + 200000ULL) end
   sleep_until(shared.start)
end

local function all_have_begun()
   -- The time of a run counts from then, and each thread sends one statement in any case: one that got no processor for a while, or was still connecting, sent nothing of
   -- its part, and what stands before that passed for all that can be sent.
   if shared.begun == 0 then
      for thread = 0, sysbench.opt.threads - 1 do
         if shared.ready[thread] ~= BEGUN then return false end
      end
      shared.begun = now()
   end
   return true
end

local function connected(record, text)
   -- The text: character set, NUL, database (which may be empty), NUL.
   local charset = ffi.string(text)
   local database = text + #charset + 1
   local number
   for try = 1, is_gone and 1 or MAXIMUM_TRIES do
      local connection = C.mysql_init(nil)
      local no = ffi.new("unsigned int[1]", 0)
      C.mysql_options(connection, LOCAL_INFILE, no)
      C.mysql_options(connection, CHARSET_NAME, charset)
      if C.mysql_real_connect(connection, nil, account, "", database[0] ~= 0 and database or nil, 0, socket, MULTI_RESULTS) ~= nil then return connection, 0 end
      number = C.mysql_errno(connection)
      C.mysql_close(connection)
      if number ~= NOT_ANSWERED then return nil, number end
      sleep_until(now() + PAUSE)
   end
   is_gone = true
   return nil, number
end

local function rows_of(connection, large)
   -- How many rows came, of all results of a statement.
   local rows = 0ULL
   repeat
      if C.mysql_field_count(connection) > 0 then
         if large then
            local result = C.mysql_use_result(connection)
            if result ~= nil then
               while C.mysql_fetch_row(result) ~= nil do rows = rows + 1 end
               C.mysql_free_result(result)
            end
         else
            local result = C.mysql_store_result(connection)
            if result ~= nil then
               rows = rows + C.mysql_num_rows(result)
               C.mysql_free_result(result)
            end
         end
      end
   until C.mysql_next_result(connection) ~= 0
   return rows
end

local function take_turns(tickets, count, thread)
   -- Waits until all writes are done that a ticket wants done. They stand before this one in the order of all, as each thread's own do, so there is no circle to wait in;
   -- what was lost, or waits for a lock that a later one holds, is waited for so long and no longer.
   local begun = nil
   for index = 0, count - 1 do
      local number, before = tickets[index].counter, tickets[index].before
      local done = writes_done + bases[number]
      local reached = passed[number] or 0
      while reached < before do
         if done[reached] ~= 0 then
            reached = reached + 1
         else
            if shared.lost >= MAXIMUM_LOST then break end
            begun = begun or now()
            wait_for(shared.counters + number, done, reached)
            local present, since = now(), shared.lost_at > begun and shared.lost_at or begun
            if present > since + PATIENCE / bit.lshift(1, shared.lost) then
               thread.lost = thread.lost + 1
               shared.lost, shared.lost_at = shared.lost + 1, present
               break
            end
         end
      end
      passed[number] = reached
   end
   if begun then thread.waited = thread.waited + (now() - begun) end
end

local function give_turns(tickets, count)
   for index = 0, count - 1 do
      local counter, number = shared.counters + tickets[index].counter, tickets[index].number
      writes_done[bases[tickets[index].counter] + number] = 1
      counter[0] = counter[0] + 1
      wake(ffi.cast("uint32_t *", counter), number)
   end
end

local function found_alike(connection)
   -- Whether an UPDATE found rows that were already as it would have them: some clients are told of these (CLIENT_FOUND_ROWS), and so is their server's log.
   local info = C.mysql_info(connection)
   return info ~= nil and string.find(ffi.string(info), "^Rows matched: [1-9]") ~= nil
end

local function send(connection, record, text, answer)
   local begun, sent = now(), SENT
   answer.begun = begun - shared.start
   if C.mysql_real_query(connection, text, record.bytes) == 0 then
      if C.mysql_field_count(connection) == 0 then
         answer.affected = C.mysql_affected_rows(connection)
         if answer.affected == 0 and found_alike(connection) then sent = FOUND_ALIKE end
      end
      answer.rows = rows_of(connection, record.large ~= 0)
   end
   answer.error = C.mysql_errno(connection)
   answer.duration = now() - begun
   answer.sent = sent
end

function thread_run()
   local thread = ffi.cast("replay_thread *", results)
   local answers = ffi.cast("replay_answer *", results + ffi.sizeof("replay_thread"))
   local connections, refused = {}, {}
   local position, statement = 0, 0
   begin()
   thread.cpu_begun = cpu()
   thread.begun = now() - shared.start
   local longest = tonumber(sysbench.opt.stop) > 0 and ffi.cast("uint64_t", tonumber(sysbench.opt.stop) * 1e9) or nil
   while position < records_length do
      local record = ffi.cast("replay_record *", records + position)
      local tickets = ffi.cast("replay_ticket *", records + position + ffi.sizeof("replay_record"))
      local text = ffi.cast("const char *", tickets + record.tickets)
      -- Each record begins at a multiple of eight bytes, and each text ends with a NUL that does not count.
      position = position + ffi.sizeof("replay_record") + ffi.sizeof("replay_ticket") * record.tickets + bit.band(record.bytes + 8, bit.bnot(7))
      -- Whoever waits for a recorded moment has begun.
      if paced or record.action ~= OPEN then shared.ready[sysbench.tid] = BEGUN end
      local stop = longest and all_have_begun() and shared.begun + longest
      local over = stop and ((now() > stop and (paced or statement > 0)) or (paced and shared.start + record.at > stop))
      if paced and not over then
         local due = shared.start + record.at
         local present = now()
         if present < due then
            sleep_until(due)
         elseif present - due > LATE then
            thread.late = thread.late + 1
         end
      end
      if over and record.action ~= CLOSE then
         if record.action ~= OPEN and record.action ~= USE and record.action ~= UNLOCK then
            if record.tickets > 0 then give_turns(tickets, record.tickets) end
            statement = statement + 1
         end
      elseif record.action == OPEN then
         connections[record.handle], refused[record.handle] = connected(record, text)
         if connections[record.handle] == nil then thread.unconnected = thread.unconnected + 1 end
      elseif record.action == CLOSE then
         if connections[record.handle] ~= nil then C.mysql_close(connections[record.handle]) end
         connections[record.handle] = nil
      elseif record.action == USE then
         if connections[record.handle] ~= nil then C.mysql_select_db(connections[record.handle], text) end
      elseif record.action == UNLOCK then
         if connections[record.handle] ~= nil then C.mysql_real_query(connections[record.handle], "UNLOCK TABLES", 13) end
      else
         local connection = connections[record.handle]
         if record.tickets > 0 then take_turns(tickets, record.tickets, thread) end
         if connection ~= nil then
            send(connection, record, text, answers[statement])
         else
            answers[statement].error = refused[record.handle] or NO_CONNECTION
         end
         if record.tickets > 0 then give_turns(tickets, record.tickets) end
         statement = statement + 1
      end
   end
   shared.ready[sysbench.tid] = BEGUN
   thread.ended = now() - shared.start
   thread.cpu_ended = cpu()
end

-- Never called: thread_run replaces the loop, but sysbench insists on it.
function event()
end
