import { Console, Effect, Layer, Option, Struct } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { serverConfig } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { Accounts } from "../services/identity/Accounts.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import { type Invite, inviteLifetimes, inviteLink, Invites, inviteUses } from "../services/invites/Invites.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError, findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { counted, json, print, printList } from "./Output.ts"

const services = Layer.merge(Invites.layer, Accounts.layer).pipe(
  Layer.provideMerge(serverConfig),
  Layer.provideMerge(Operator.layer)
)

/** Maximum invites that are listed. */
const listedMax = 1_000

/** Returns invites with the names of their inviters, as they are printed. */
const shown = Effect.fnUntraced(function*(invites: ReadonlyArray<Invite>) {
  const { publicUrl } = yield* ServerConfig
  const inviters = yield* (yield* Accounts).load([...new Set(invites.map(({ accountId }) => accountId))])
  const names = new Map(inviters.map(({ id, username }) => [id, username]))
  return invites.map(({ accountId, ...invite }) => ({
    ...invite,
    url: inviteLink(publicUrl, invite.code),
    username: names.get(accountId) ?? "-"
  }))
})
type Shown = Effect.Success<ReturnType<typeof shown>>[number]

const line = ({ expiresAt, maxUses, url, username, uses, valid }: Shown) =>
  [
    url,
    username,
    maxUses === null ? counted(uses, "use") : `${uses} of ${counted(maxUses, "use")}`,
    expiresAt === null ? "does not expire" : `until ${expiresAt.toISOString()}`,
    valid ? "valid" : "no longer valid"
  ].join("\t")

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("Name of the inviting account, without @ and domain")),
    uses: Flag.Int("uses").pipe(
      Flag.withDescription(`People who can sign up with it: ${inviteUses.join(", ")}; without it, any number`),
      Flag.optional
    ),
    expires: Flag.Literals("expires", Struct.keys(inviteLifetimes)).pipe(
      Flag.withDescription("Time until it expires; without it, never"),
      Flag.optional
    ),
    follow: Flag.Boolean("follow").pipe(
      Flag.withDescription("New members follow the inviting account"),
      Flag.withDefault(false)
    ),
    json
  },
  traced("invite create")(function*(given) {
    const { accountId } = yield* findUser(given.name)
    const invite = yield* asOperatorError((yield* Invites).create(accountId, {
      maxUses: Option.getOrNull(given.uses),
      expiresIn: Option.getOrNull(Option.map(given.expires, (name) => inviteLifetimes[name])),
      autofollow: given.follow
    }))
    for (const one of yield* shown([invite])) yield* print(given.json, one, one.url)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription(
    "Creates an invite of an account and prints its link, which works in every sign-up mode"
  ),
  withExamples(["ada", "Prints a link that any number of people can use"], [
    "ada --uses 5 --expires 7d",
    "Prints a link for five people that expires after a week"
  ])
)

const list = Command.make(
  "list",
  { json },
  traced("invite list")(function*(given) {
    const page = { maxId: undefined, minId: undefined, sinceId: undefined, limit: listedMax }
    const invites = yield* shown(yield* (yield* Invites).list(page))
    yield* printList(given.json, invites, invites.map(line), "There are no invites.")
    if (invites.length === listedMax) {
      yield* Console.error(`Only the newest ${listedMax} are listed; there may be more.`)
    }
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Lists invites, newest first: link, inviter, uses, expiry, state"),
  withExamples(["", "Lists the invites"], ["--json", "The same for a script"])
)

const revoke = Command.make(
  "revoke",
  { invite: Argument.String("invite").pipe(Argument.withDescription("Link or code of the invite")) },
  traced("invite revoke")(function*(given) {
    const code = given.invite.slice(given.invite.lastIndexOf("/") + 1)
    const invites = yield* Invites
    const missing = new OperatorError({ message: `There is no valid invite ${code}` })
    const found = yield* invites.find(code)
    if (found === undefined) return yield* missing
    yield* Effect.mapError(invites.end(undefined, found.id), () => missing)
    yield* Console.log("Revoked.")
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Ends an invite; accounts that were created with it stay"),
  withExamples(["AbCd2345", "Ends the invite with this code"])
)

export const command = Command.make("invite").pipe(
  Command.withDescription("Invite links, with which people can sign up in every sign-up mode"),
  withExamples(["create ada --uses 5 --expires 7d", "Prints a link for five people"]),
  Command.withSubcommands([create, list, revoke])
)
