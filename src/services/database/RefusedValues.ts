import type { SqlError } from "effect/sql/SqlError"

/** Classes of SQLSTATE: data exception, integrity constraint violation, program limit exceeded. */
const refused = /^(?:22|23|54)/

/** Returns true if Postgres refused a value: a retry with other values may succeed, and so may other rows. */
export const isValueRefused = ({ reason: { cause } }: SqlError): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string" &&
  refused.test(cause.code)
