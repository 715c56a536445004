import { Predicate } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** Maximum depth of nested causes that are read. */
const causesMax = 5

/** Errors of services that the operator runs or chose, and of other servers. */
const tags: ReadonlySet<string> = new Set([
  "BackendFailed",
  "EmailNotSent",
  "ErrorResponse",
  "MailboxFull",
  "OperatorError",
  "PersistenceError",
  "ProviderFailed",
  "RedisError",
  "RedisFailed",
  "Refused",
  "RunnerNotRegistered",
  "RunnerUnavailable",
  "StorageFailed",
  "TimeoutError",
  "TranslatorFailed",
  "Unavailable",
  "Unreachable"
])

/** Errors of the system about networks, ports, disks and rights. */
const systemCodes: ReadonlySet<string> = new Set([
  "EACCES",
  "EADDRINUSE",
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EDQUOT",
  "EHOSTUNREACH",
  "EMFILE",
  "ENETUNREACH",
  "ENFILE",
  "ENOSPC",
  "ENOTFOUND",
  "EPERM",
  "EPIPE",
  "EROFS",
  "ETIMEDOUT"
])

/**
 * SQLSTATEs about connections (08), passwords (28), resources such as disk space (53), interventions (57) and rights
 * (42501), a missing database (3D000), and sessions that waited too long (25P03).
 */
const sqlStates = /^(?:08|28|53|57)[0-9A-Z]{3}$|^(?:25P03|3D000|42501)$/

/** Reasons of failed statements that are no fault of the statement. */
const sqlReasons: ReadonlySet<SqlError["reason"]["_tag"]> = new Set([
  "AuthenticationError",
  "AuthorizationError",
  "ConnectionError",
  "DeadlockError",
  "LockTimeoutError",
  "SerializationError",
  "StatementTimeoutError"
])

/** Returns an error and its nested causes, the outermost first. */
export const chainOf = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  for (let one = error; one !== undefined && one !== null && chain.length < causesMax;) {
    chain.push(one)
    one = isSqlError(one) ? one.reason.cause : Predicate.hasProperty(one, "cause") ? one.cause : undefined
  }
  return chain
}

const isSystem = (error: unknown) =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" &&
  (systemCodes.has(error.code) || sqlStates.test(error.code))

const isTagged = (error: unknown) =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" && tags.has(error._tag)

/**
 * Returns true for errors that an operator can mend, or that pass by themselves: a database, mail server, bucket or
 * other server that is away, a full disk, a port in use. Such an error needs no stack.
 */
export const isOperational = (error: unknown): boolean =>
  chainOf(error).some((one) => isSystem(one) || isTagged(one) || (isSqlError(one) && sqlReasons.has(one.reason._tag)))
