import type { Command } from "../../../src/actors/account/core/AccountProtocol.ts"

/** Returns a command as text, for traces. */
export const describe = (command: Command) => {
  const { _tag, ...rest } = command
  const details: ReadonlyArray<readonly [string, unknown]> = Object.entries("post" in rest ? rest.post : rest)
  const told = details.filter(([, value]) => value !== null && value !== "").map(([name, value]) =>
    `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`
  )
  return `${_tag}: ${told.join(", ")}`
}
