import { Console, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { OperatorError } from "../layers/OperatorError.ts"
import { givenEmail, requireEmail } from "../services/identity/RegistrationRules.ts"
import { Registrations } from "../services/identity/Registrations.ts"
import { Users } from "../services/identity/Users.ts"
import type { ModerationAction } from "../services/moderation/ModerationActions.ts"
import type { RoleId } from "../services/staff/Permissions.ts"
import { Roles } from "../services/staff/Roles.ts"
import { traced } from "../services/Traced.ts"
import * as Approving from "./Approving.ts"
import { enqueue } from "./Enqueue.ts"
import { logActs } from "./LoggedActs.ts"
import { findUser, refuse } from "./Lookup.ts"
import * as Moving from "./Moving.ts"
import * as Operator from "./Operator.ts"
import * as SecondFactors from "./SecondFactors.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain"))
const email = Flag.String("email").pipe(Flag.withDescription("Mail address of the user"))
const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))
const role = Flag.Literals("role", ["owner", "admin", "moderator"]).pipe(
  Flag.withDescription("What the user may do beside using the server"),
  Flag.optional
)
const password = Flag.Redacted("password").pipe(
  Flag.withDescription("Password; one is made and printed where it is not given")
)

/** Random bytes of a generated password. */
const passwordBytes = 15

const makePassword = Effect.gen(function*() {
  const random = yield* SecureRandom.SecureRandom
  return Redacted.make(Base64Url.encode(yield* random.randomBytes(passwordBytes)))
})

const roleOf = Effect.fnUntraced(function*(role: Option.Option<string>) {
  if (Option.isNone(role)) return undefined
  const found = yield* (yield* Roles).find(role.value)
  return Option.isNone(found) ? yield* new OperatorError({ message: `There is no role ${role.value}` }) : found.value.id
})

const withRole = (roleId: RoleId | undefined) => roleId === undefined ? {} : { roleId }

const create = Command.make(
  "create",
  {
    name,
    email,
    password: Flag.optional(password),
    role,
    confirmed: toggle("confirmed", "The address needs no confirmation by mail")
  },
  traced("account create")(function*(given) {
    const registrations = yield* Registrations
    const roleId = yield* roleOf(given.role)
    const password = Option.isSome(given.password) ? given.password.value : yield* makePassword
    yield* registrations.create({
      username: given.name,
      email: givenEmail(given.email),
      password,
      confirmed: given.confirmed,
      approved: true,
      reservedAllowed: roleId !== undefined,
      ...withRole(roleId)
    }).pipe(refuse)
    yield* Console.log(`Account ${given.name} was made.`)
    if (Option.isNone(given.password)) yield* Console.log(`Password: ${Redacted.value(password)}`)
    if (!given.confirmed) {
      yield* Console.log("The address is not confirmed yet; `account modify NAME --confirm` does it without a mail.")
    }
  }, (effect) => Effect.provide(effect, Operator.layer))
).pipe(Command.withDescription("Makes an account on this server"))

const modify = Command.make(
  "modify",
  {
    name,
    email: Flag.optional(email),
    role,
    confirm: toggle("confirm", "The address counts as confirmed"),
    approve: toggle("approve", "Lets a user in who waits for approval"),
    disable: toggle("disable", "Keeps the user out and closes their streams"),
    enable: toggle("enable", "Lets a disabled user in again"),
    resetPassword: toggle("reset-password", "Signs the user out everywhere and prints a new password"),
    password: Flag.optional(
      Flag.Redacted("password").pipe(Flag.withDescription("Signs the user out everywhere and sets it"))
    ),
    disable2fa: toggle("disable-2fa", "Takes the second factor from a user who lost phone and recovery codes"),
    displayName: Flag.optional(Flag.String("display-name").pipe(Flag.withDescription("The name that others see")))
  },
  traced("account modify")(function*(given) {
    const users = yield* Users
    const { accountId } = yield* findUser(given.name)
    const roleId = yield* roleOf(given.role)
    const email = Option.isSome(given.email) ? yield* requireEmail(given.email.value).pipe(refuse) : undefined
    yield* users.change(accountId, {
      ...(email === undefined ? {} : { email }),
      ...(given.confirm ? { confirmed: true as const } : {}),
      ...(given.approve ? { approved: true as const } : {}),
      ...(given.disable ? { disabled: true } : given.enable ? { disabled: false } : {}),
      ...withRole(roleId)
    }).pipe(refuse)
    const isReset = Option.isSome(given.password) || given.resetPassword
    if (isReset) {
      const password = Option.isSome(given.password) ? given.password.value : yield* makePassword
      yield* users.setPassword(accountId, password).pipe(refuse)
      if (given.resetPassword && Option.isNone(given.password)) {
        yield* Console.log(`Password: ${Redacted.value(password)}`)
      }
    }
    yield* logActs(accountId, given.name, [
      ...(Option.isSome(given.email) ? ["change_email"] as const : []),
      ...(given.confirm ? ["confirm"] as const : []),
      ...(given.approve ? ["approve"] as const : []),
      ...(given.disable ? ["disable"] as const : given.enable ? ["enable"] as const : []),
      ...(roleId === undefined ? [] : ["change_role"] as const),
      ...(isReset ? ["reset_password"] as const : [])
    ])
    if (given.disable2fa) yield* SecondFactors.take(given.name, accountId)
    if (Option.isSome(given.displayName)) {
      yield* enqueue(accountId, { _tag: "UpdateProfile", change: { displayName: given.displayName.value } })
    }
    yield* Console.log(`Account ${given.name} was changed.`)
  }, (effect) => Effect.provide(effect, SecondFactors.layer))
).pipe(Command.withDescription("Changes a user of this server"))

const remove = Command.make(
  "delete",
  {
    name,
    yes: toggle("yes", "Says that it is meant: nothing brings the account back, and nobody gets its name again")
  },
  traced("account delete")(function*(given) {
    const { accountId } = yield* findUser(given.name)
    if (!given.yes) {
      return yield* new OperatorError({
        message: `This deletes ${given.name} with all posts and files for ever, here and on other servers. ` +
          "Say --yes if it is meant"
      })
    }
    yield* enqueue(accountId, { _tag: "DeleteAccount" })
    yield* Console.log(`Account ${given.name}: its end is on its way.`)
  }, (effect) => Effect.provide(effect, Operator.layer))
).pipe(Command.withDescription("Deletes an account of this server with everything that it did"))

/** Builds a command that takes or lifts a moderation action. */
const moderation = (word: string, measure: ModerationAction, stands: boolean, description: string) =>
  Command.make(
    word,
    { name },
    traced(`account ${word}`)(function*(given) {
      const { accountId } = yield* findUser(given.name)
      yield* enqueue(accountId, { _tag: "Moderate", measure, stands })
      yield* Console.log(`Account ${given.name}: ${word} is on its way.`)
    }, (effect) => Effect.provide(effect, Operator.layer))
  ).pipe(Command.withDescription(description))

const actions = [
  moderation("suspend", "suspend", true, "Hides everything of an account and keeps its user out"),
  moderation("unsuspend", "suspend", false, "Shows an account and lets its user in again"),
  moderation("silence", "silence", true, "Shows an account's posts to its followers and on its profile only"),
  moderation("unsilence", "silence", false, "Lets an account be heard by everybody again"),
  moderation("sensitize", "sensitize", true, "Marks everything that an account posts as sensitive"),
  moderation("unsensitize", "sensitize", false, "Leaves that to the account again")
] as const

export const command = Command.make("account").pipe(
  Command.withDescription("Accounts on this server"),
  Command.withSubcommands([
    create,
    modify,
    remove,
    Approving.list,
    Approving.approve,
    Approving.reject,
    ...actions,
    Moving.alias,
    Moving.move
  ])
)
