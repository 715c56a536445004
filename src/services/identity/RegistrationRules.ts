import { Effect, Redacted, Result } from "effect"
import { Unprocessable } from "../runtime/Errors.ts"
import { birthdayOf } from "../runtime/Moments.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { passwordBytesMax, passwordCharactersMin } from "./Credentials.ts"
import * as EmailAddresses from "./EmailAddresses.ts"
import { isPasswordLong } from "./PasswordBytes.ts"
import * as TimeZones from "./TimeZones.ts"
import * as Usernames from "./Usernames.ts"

/** Maximum characters of a sign-up's reason. */
const reasonCharactersMax = 420

type Field = "username" | "email" | "password" | "agreement" | "reason" | "dateOfBirth" | "timeZone"
type Code =
  | "ERR_TAKEN"
  | "ERR_BLOCKED"
  | "ERR_RESERVED"
  | "ERR_ACCEPTED"
  | "ERR_BLANK"
  | "ERR_INVALID"
  | "ERR_TOO_LONG"
  | "ERR_TOO_SHORT"
  | "ERR_BELOW_LIMIT"
  | "ERR_INCLUSION"

/** A problem with one field of a sign-up; `description` follows the field's name in the error text. */
export interface Problem {
  readonly field: Field
  readonly error: Code
  readonly description: string
}

const names: Readonly<Record<Field, string>> = {
  username: "Username",
  email: "E-mail address",
  password: "Password",
  agreement: "Service agreement",
  reason: "Reason",
  dateOfBirth: "Date of birth",
  timeZone: "Time zone"
}

/** Names in `details` that differ from the field's. */
const detailNames: Partial<Record<Field, string>> = { dateOfBirth: "date_of_birth", timeZone: "time_zone" }

/** Removes duplicate problems of the same field. */
export const distinct = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> => [
  ...new Map(problems.map((one) => [`${one.field} ${one.error}`, one])).values()
]

/** Returns the error with all problems, as `POST /api/v1/accounts` shows it. */
export const refusal = (problems: ReadonlyArray<Problem>): Unprocessable => {
  const details: Record<string, Array<{ error: string; description: string }>> = {}
  for (const { description, error, field } of problems) {
    ;(details[detailNames[field] ?? field] ??= []).push({ error, description })
  }
  const text = problems.map(({ description, field }) => `${names[field]} ${description}`).join(", ")
  return new Unprocessable({ text: `Validation failed: ${text}`, details })
}

const problem = (field: Field, error: Code, description: string): Problem => ({ field, error, description })
const tooLong = (field: Field, max: number, unit = "characters") =>
  problem(field, "ERR_TOO_LONG", `is too long (maximum is ${max} ${unit})`)

/** Returns problems that can be found without the database. */
export const problemsOf = (given: {
  readonly username: string
  readonly email: GivenEmail
  /** Undefined for a user of the identity provider. */
  readonly password: Redacted.Redacted | undefined
  readonly reason?: string | undefined
  readonly timeZone?: string | undefined
  readonly reservedAllowed?: boolean
}): ReadonlyArray<Problem> => [
  ...ofUsername(given.username, given.reservedAllowed ?? false),
  ...(Result.isFailure(given.email) ? [given.email.failure] : []),
  ...(given.password === undefined ? [] : ofPassword(given.password)),
  ...(hasMoreCharacters(given.reason ?? "", reasonCharactersMax) ? [tooLong("reason", reasonCharactersMax)] : []),
  ...(given.timeZone && TimeZones.isKnown(given.timeZone) === undefined
    ? [problem("timeZone", "ERR_INCLUSION", "is not included in the list")]
    : [])
]

const ofUsername = (username: string, reservedAllowed: boolean): ReadonlyArray<Problem> => {
  if (username === "") return [problem("username", "ERR_BLANK", "can't be blank")]
  return [
    ...(Usernames.isValid(username)
      ? []
      : [problem("username", "ERR_INVALID", "must contain only letters, numbers and underscores")]),
    ...(username.length > Usernames.usernameCharactersMax
      ? [tooLong("username", Usernames.usernameCharactersMax)]
      : []),
    ...(!reservedAllowed && Usernames.isReserved(username) ? [reserved] : [])
  ]
}

/** E-mail address of a form or request, or the problem with it. */
export type GivenEmail = Result.Result<EmailAddresses.EmailAddress, Problem>

/** Parses an e-mail address, or returns the problem with it. */
export const givenEmail = (text: string): GivenEmail => {
  if (text.trim() === "") return Result.fail(problem("email", "ERR_BLANK", "can't be blank"))
  if (text.trim().length > EmailAddresses.emailCharactersMax) {
    return Result.fail(tooLong("email", EmailAddresses.emailCharactersMax))
  }
  const email = EmailAddresses.parse(text)
  return email === undefined ? Result.fail(problem("email", "ERR_INVALID", "is invalid")) : Result.succeed(email)
}

/** Parses an e-mail address, or fails with the error of a sign-up. */
export const requireEmail = (text: string): Effect.Effect<EmailAddresses.EmailAddress, Unprocessable> =>
  Effect.mapError(Effect.fromResult(givenEmail(text)), (one) => refusal([one]))

/** Returns the problems of a password. */
export const ofPassword = (password: Redacted.Redacted): ReadonlyArray<Problem> => {
  const text = Redacted.value(password)
  if (text === "") return [problem("password", "ERR_BLANK", "can't be blank")]
  if (!hasMoreCharacters(text, passwordCharactersMin - 1)) {
    return [problem("password", "ERR_TOO_SHORT", `is too short (minimum is ${passwordCharactersMin} characters)`)]
  }
  return isPasswordLong(password)
    ? [tooLong("password", passwordBytesMax, "bytes")]
    : []
}

export const reserved = problem("username", "ERR_RESERVED", "is reserved")
export const emailBlocked = problem("email", "ERR_BLOCKED", "uses a forbidden e-mail provider")
export const alreadyTaken = (field: "username" | "email"): Problem =>
  problem(field, "ERR_TAKEN", "has already been taken")
export const notAccepted = problem("agreement", "ERR_ACCEPTED", "must be accepted")
export const noReason = problem("reason", "ERR_BLANK", "can't be blank")

/** Returns the problems of a date of birth, given the minimum age in years. */
export const ofAge = (given: string | undefined, years: number, nowMillis: number): ReadonlyArray<Problem> => {
  const text = given?.trim() ?? ""
  if (text === "") return [problem("dateOfBirth", "ERR_BLANK", "can't be blank")]
  const born = birthdayOf(text)
  if (born === undefined) return [problem("dateOfBirth", "ERR_INVALID", "is invalid")]
  const today = new Date(nowMillis)
  const days = (year: number, month: number, day: number) => (year * 12 + month) * 31 + day
  const now = days(today.getUTCFullYear(), today.getUTCMonth() + 1, today.getUTCDate())
  if (days(born.year, born.month, born.day) > now) return [problem("dateOfBirth", "ERR_INVALID", "is invalid")]
  return days(born.year + years, born.month, born.day) > now
    ? [problem("dateOfBirth", "ERR_BELOW_LIMIT", "is below the age limit")]
    : []
}
