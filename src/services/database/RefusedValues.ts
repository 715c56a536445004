import type { SqlError } from "effect/sql/SqlError"

/** Classes of SQLSTATE: data exception, integrity constraint violation, program limit exceeded. */
const refused = /^(?:22|23|54)/

/** Returns true if Postgres refused a value, so that a repetition with other values, and other rows, may succeed. */
export const isValueRefused = ({ reason: { cause } }: SqlError): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" &&
  refused.test(cause.code)
