/** Address that Postgres listens on: a socket file in a folder, or a port of 127.0.0.1 and optionally a folder, too. */
export type Listen = { readonly folder: string } | { readonly port: number; readonly folder?: string }

/** Maximum Postgres connections; the pools of the server and of a command line together stay below. */
const maxConnections = 100
/** Maximum connections under test, where many servers each have pools. */
const maxTestConnections = 400

/** `durable` is false only if the data may be lost; `more` has further settings, which replace those here. */
export interface Durability {
  readonly durable: boolean
  readonly more?: Readonly<Record<string, string | number>>
}

/** Port number in the socket file's name when no TCP port is open; it occupies no port. */
export const socketPort = 5432

/**
 * Returns the arguments of `postgres` for a small machine that it shares with the server: little memory, frequent
 * vacuuming, no parallel plans and no JIT (both cost more than they gain for a page's queries).
 */
export const settings = (folder: string, listen: Listen, options: Durability): Array<string> => {
  const values: Record<string, string | number> = {
    ...("port" in listen
      ? { "listen_addresses": "127.0.0.1", port: listen.port }
      : { "listen_addresses": "", port: socketPort }),
    "unix_socket_directories": listen.folder ?? "",
    "unix_socket_permissions": "0700",
    "max_connections": options.durable ? maxConnections : maxTestConnections,
    "shared_buffers": "128MB",
    "effective_cache_size": "512MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
    "wal_level": "minimal",
    "max_wal_senders": 0,
    "random_page_cost": 1.1,
    jit: "off",
    "io_method": "sync",
    "max_parallel_workers_per_gather": 0,
    "autovacuum_naptime": "20s",
    "autovacuum_vacuum_scale_factor": 0.05,
    timezone: "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "password_encryption": "scram-sha-256",
    ...(options.durable ? {} : { fsync: "off", "full_page_writes": "off" }),
    ...options.more
  }
  return ["-D", folder, ...Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`])]
}
