SET GLOBAL hot.key_buffer_size = 1048576;
CACHE INDEX shop.orders IN hot;
LOAD INDEX INTO CACHE shop.orders;
