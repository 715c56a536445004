import { Effect } from "effect"
import * as EmailAddresses from "../../services/identity/EmailAddresses.ts"
import { validationFailed } from "../../services/runtime/Errors.ts"

/** Parses the address of a setting; an empty text removes the setting. */
export const emailOf = (given: string) => {
  const text = given.trim()
  const address = text === "" ? "" : EmailAddresses.parse(text)
  return address === undefined ? Effect.fail(validationFailed("E-mail address is invalid")) : Effect.succeed(address)
}
