import { Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { serverConfig } from "../layers/Environment.ts"
import { type UserOverview, UserOverviews } from "../services/identity/UserOverviews.ts"
import { ServerConfig } from "../services/instance/ServerConfig.ts"
import * as Urls from "../services/instance/Urls.ts"
import { traced } from "../services/runtime/Traced.ts"
import { terminalLine } from "../services/text/TerminalText.ts"
import { withExamples } from "./Examples.ts"
import { findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { json, print } from "./Output.ts"

const services = UserOverviews.layer.pipe(Layer.provideMerge(serverConfig), Layer.provideMerge(Operator.layer))

/** Describes the state of an account; several can hold. */
const statesOf = (user: UserOverview): ReadonlyArray<string> => {
  const states = [
    ...(user.confirmed ? [] : ["e-mail address not confirmed"]),
    ...(user.approved ? [] : ["waits for approval"]),
    ...(user.disabled ? ["disabled"] : []),
    ...(user.suspended ? ["suspended"] : []),
    ...(user.silenced ? ["limited"] : []),
    ...(user.sensitized ? ["media marked as sensitive"] : []),
    ...(user.memorial ? ["memorial"] : []),
    ...(user.movedTo === null ? [] : [`moved to @${user.movedTo}`])
  ]
  return states.length === 0 ? ["active"] : states
}

const factors = { on: "on", off: "off", missing: "required by the role, but not set up" }

const at = (time: Date | null) => time === null ? "never" : time.toISOString()

const linesOf = (user: UserOverview, url: string) => [
  `Account: ${user.username} (${user.id})${user.displayName === "" ? "" : `, ${terminalLine(user.displayName)}`}`,
  `URL: ${url}`,
  `E-mail: ${user.email}${user.unconfirmedEmail === null ? "" : `, to become ${user.unconfirmedEmail}`}`,
  `Role: ${user.role === "" ? "-" : user.role}`,
  `State: ${statesOf(user).join(", ")}`,
  `Password: ${user.hasPassword ? "set" : "none"}, identities at a provider: ${user.identities}`,
  `Second factor: ${factors[user.secondFactor]}; recovery codes: ${user.recoveryCodes}, passkeys: ${user.passkeys}`,
  `Sessions: ${user.sessions}, apps: ${user.apps}, tokens of the command line: ${user.operatorTokens}`,
  `Posts: ${user.statusesCount}, followers: ${user.followersCount}, following: ${user.followingCount}`,
  `Created: ${at(user.createdAt)}${user.invitedBy === null ? "" : `, invited by ${user.invitedBy}`}`,
  `Last seen: ${at(user.lastSeenAt)}, last sign-in: ${at(user.lastSignInAt)}, last post: ${at(user.lastStatusAt)}`,
  `Languages: pages ${user.locale ?? "-"}, posts ${user.defaultLanguage ?? "-"}, reads ${
    user.chosenLanguages === null ? "all" : user.chosenLanguages.join(", ")
  }`,
  `Time zone: ${user.timeZone ?? "-"}`,
  `Reports: ${user.reports}, open: ${user.openReports}, strikes: ${user.strikes}`
]

/** `account show`: what an operator asks first about a user. */
export const show = Command.make(
  "show",
  { name: Argument.String("name").pipe(Argument.withDescription("Name of the account, without @ and domain")), json },
  traced("account show")(function*(given) {
    const { accountId, username } = yield* findUser(given.name)
    const user = yield* (yield* UserOverviews).of(accountId)
    const url = Urls.profile(yield* ServerConfig, username)
    yield* print(given.json, { ...user, url }, linesOf(user, url).join("\n"))
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Shows an account: address, role, state, second factor, sessions, posts, times and reports"),
  withExamples(["ada", "Shows the account of ada"], ["ada --json", "Shows it for a script"])
)
