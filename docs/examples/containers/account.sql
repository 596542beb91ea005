-- What `myisam-advisor grants --password` prints for MariaDB; the password is client.cnf's.
CREATE USER 'myisam-advisor'@'localhost' IDENTIFIED BY 'change me';
GRANT PROCESS ON *.* TO 'myisam-advisor'@'localhost';
GRANT SELECT ON performance_schema.* TO 'myisam-advisor'@'localhost';
