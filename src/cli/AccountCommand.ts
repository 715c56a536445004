import { Console, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { OperatorError } from "../layers/OperatorError.ts"
import { givenEmail, requireEmail } from "../services/identity/RegistrationRules.ts"
import { Registrations } from "../services/identity/Registrations.ts"
import { Users } from "../services/identity/Users.ts"
import type { ModerationAction } from "../services/moderation/ModerationActions.ts"
import { traced } from "../services/runtime/Traced.ts"
import type { RoleId } from "../services/staff/Permissions.ts"
import { Roles } from "../services/staff/Roles.ts"
import * as AccountApproval from "./AccountApproval.ts"
import * as AccountArchive from "./AccountArchive.ts"
import * as AccountExport from "./AccountExport.ts"
import * as AccountLists from "./AccountLists.ts"
import * as AccountMove from "./AccountMove.ts"
import { show } from "./AccountShow.ts"
import { enqueue } from "./Enqueue.ts"
import { withExamples } from "./Examples.ts"
import { logActs } from "./LoggedActs.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import { moveFollowers } from "./MoveFollowersCommand.ts"
import * as Operator from "./Operator.ts"
import * as SecondFactors from "./SecondFactors.ts"
import { whyNotHome } from "./WhyNotHome.ts"

const name = Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain"))
const email = Flag.String("email").pipe(Flag.withDescription("E-mail address of the user"))
const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))
const role = Flag.Literals("role", ["owner", "admin", "moderator"]).pipe(
  Flag.withDescription("Staff role of the user"),
  Flag.optional
)
const password = Flag.Redacted("password").pipe(
  Flag.withDescription("Password; a random one is printed if it is not given")
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
    confirmed: toggle("confirmed", "The address is already confirmed")
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
    }).pipe(asOperatorError)
    yield* Console.log(`Account ${given.name} was created.`)
    if (Option.isNone(given.password)) yield* Console.log(`Password: ${Redacted.value(password)}`)
    if (!given.confirmed) {
      yield* Console.log(
        "The address is not confirmed yet; `account modify NAME --confirm` confirms it without an e-mail."
      )
    }
  }, (effect) => Effect.provide(effect, Operator.layer))
).pipe(
  Command.withDescription("Creates an account on this server"),
  withExamples(["ada --email ada@example.org --confirmed", "Creates a user and prints a password"], [
    "ada --email ada@example.org --role owner --confirmed",
    "Creates the owner"
  ])
)

const modify = Command.make(
  "modify",
  {
    name,
    email: Flag.optional(email),
    role,
    confirm: toggle("confirm", "Marks the address as confirmed"),
    approve: toggle("approve", "Approves a pending sign-up"),
    disable: toggle("disable", "Blocks sign-in and closes the user's streams"),
    enable: toggle("enable", "Enables a disabled user"),
    resetPassword: toggle("reset-password", "Signs the user out everywhere and prints a new password"),
    password: Flag.optional(
      Flag.Redacted("password").pipe(Flag.withDescription("Sets a password and signs the user out everywhere"))
    ),
    disable2fa: toggle("disable-2fa", "Disables two-factor sign-in, for a user who lost phone and recovery codes"),
    displayName: Flag.optional(Flag.String("display-name").pipe(Flag.withDescription("Display name")))
  },
  traced("account modify")(function*(given) {
    const users = yield* Users
    const { accountId } = yield* findUser(given.name)
    const roleId = yield* roleOf(given.role)
    const email = Option.isSome(given.email) ? yield* requireEmail(given.email.value).pipe(asOperatorError) : undefined
    yield* users.change(accountId, {
      ...(email === undefined ? {} : { email }),
      ...(given.confirm ? { confirmed: true as const } : {}),
      ...(given.approve ? { approved: true as const } : {}),
      ...(given.disable ? { disabled: true } : given.enable ? { disabled: false } : {}),
      ...withRole(roleId)
    }).pipe(asOperatorError)
    const isReset = Option.isSome(given.password) || given.resetPassword
    if (isReset) {
      const password = Option.isSome(given.password) ? given.password.value : yield* makePassword
      yield* users.setPassword(accountId, password).pipe(asOperatorError)
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
).pipe(
  Command.withDescription("Changes a user of this server"),
  withExamples(["ada --role moderator", "Makes ada a moderator"], [
    "ada --reset-password",
    "Signs ada out everywhere and prints a new password"
  ], ["ada --disable-2fa", "Helps ada, who lost phone and recovery codes"])
)

const remove = Command.make(
  "delete",
  {
    name,
    yes: toggle("yes", "Confirms the deletion: the account cannot be restored and its name is never reused")
  },
  traced("account delete")(function*(given) {
    const { accountId } = yield* findUser(given.name)
    if (!given.yes) {
      return yield* new OperatorError({
        message: `This deletes ${given.name} with all posts and files, permanently, here and on other servers. ` +
          "Pass --yes to confirm"
      })
    }
    yield* enqueue(accountId, { _tag: "DeleteAccount" })
    yield* Console.log(`Deletion of account ${given.name} has started.`)
  }, (effect) => Effect.provide(effect, Operator.layer))
).pipe(
  Command.withDescription("Deletes an account of this server with all its data"),
  withExamples(["ada --yes", "Deletes ada with all posts and files"])
)

/** Builds a command that takes or lifts a moderation action. */
const moderation = (word: string, measure: ModerationAction, inForce: boolean, description: string) =>
  Command.make(
    word,
    { name },
    traced(`account ${word}`)(function*(given) {
      const { accountId } = yield* findUser(given.name)
      yield* enqueue(accountId, { _tag: "Moderate", measure, stands: inForce })
      yield* Console.log(`Account ${given.name}: ${word} has started.`)
    }, (effect) => Effect.provide(effect, Operator.layer))
  ).pipe(Command.withDescription(description), withExamples(["ada", description]))

const actions = [
  moderation("suspend", "suspend", true, "Hides an account and blocks its sign-in"),
  moderation("unsuspend", "suspend", false, "Lifts the suspension of an account"),
  moderation("silence", "silence", true, "Limits an account's posts to its followers and profile"),
  moderation("unsilence", "silence", false, "Lifts the limit of an account"),
  moderation("sensitize", "sensitize", true, "Marks all media of an account as sensitive"),
  moderation("unsensitize", "sensitize", false, "Stops marking an account's media as sensitive")
] as const

export const command = Command.make("account").pipe(
  Command.withDescription("Accounts on this server"),
  withExamples(["list --pending", "Lists pending sign-ups"], ["show ada", "Shows an account"]),
  Command.withSubcommands([
    create,
    modify,
    remove,
    show,
    AccountApproval.list,
    AccountApproval.approve,
    AccountApproval.reject,
    ...actions,
    AccountArchive.command,
    AccountExport.command,
    AccountMove.alias,
    AccountMove.move,
    moveFollowers,
    whyNotHome,
    AccountLists.exportLists,
    AccountLists.importList,
    AccountLists.imports
  ])
)
