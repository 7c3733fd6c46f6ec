"""The durable engine: runs as workflows of DBOS, in an SQLite file or a PostgreSQL database."""
