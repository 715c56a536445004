import { Effect, Layer, String } from "effect"
import { Argument, Command } from "effect/cli"
import { commandName } from "../layers/CommandName.ts"
import { Environment, serverConfig } from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { parseId } from "../services/database/Ids.ts"
import { parse } from "../services/discovery/LocalUrls.ts"
import { KnownUris } from "../services/federation/inbox/KnownUris.ts"
import { type HomeReason, HomeReasons } from "../services/feeds/HomeReasons.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { findUser } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

/** Sentence for each reason; `{name}` is the reader. */
const sentences: Readonly<Record<HomeReason, string>> = {
  deleted: "The post was deleted.",
  notFollowed:
    "{name} does not follow the author, nor a hashtag of the post; followed hashtags bring public posts only.",
  posted: "The post was imported from an archive; imported posts are in no home.",
  visible:
    "{name} may not see the post: it is for other followers or mentioned people, its author is suspended, or one blocks the other.",
  boostedAuthor: "{name} blocks or mutes the author of the boosted post, or blocks their server.",
  author: "{name} blocks or mutes the author, or blocks their server.",
  mentioned: "{name} blocks or mutes an account that the post mentions, or blocks its server.",
  reply: "The post is a reply to an account that {name} does not follow.",
  language: "{name} follows the author in other languages only.",
  boosts: "{name} has hidden boosts by this account.",
  consent: "The post awaits approval, by the author of the post that it replies to or by moderators.",
  excluded: "An exclusive list of {name} has the author or a hashtag of the post: it is in the list only.",
  pending: `The post is still being distributed. If this lasts, look at the log and at \`${commandName} doctor\`.`,
  filling: "{name} was away for more than a week, so the home is filled on the next visit; the post will be in it."
}

const services = Layer.mergeAll(HomeReasons.layer, KnownUris.layer).pipe(
  Layer.provide(serverConfig),
  Layer.provideMerge(Operator.layer)
)

/** Returns the id of a post by its number, its URL here, or its id on another server. */
const statusIdOf = Effect.fnUntraced(function*(text: string) {
  const { server } = yield* Environment
  const found = parse(server, text)
  const id = parseId(text) ??
    (found?.kind === "status" ? found.id : yield* Effect.orDie((yield* KnownUris).status(text)))
  return id ?? (yield* new OperatorError({ message: `There is no post ${text} here` }))
})

/** `account why-not-home`: says why a post is not in somebody's home. */
export const whyNotHome = Command.make(
  "why-not-home",
  {
    name: Argument.String("name").pipe(Argument.withDescription("Name of the account whose home it is")),
    post: Argument.String("post").pipe(Argument.withDescription("Id or URL of the post")),
    json
  },
  traced("account why-not-home")(function*(given) {
    const { accountId, username } = yield* findUser(given.name)
    const reasons = yield* (yield* HomeReasons).of(accountId, yield* statusIdOf(given.post))
    if (reasons === undefined) return yield* new OperatorError({ message: `There is no post ${given.post} here` })
    const lines = reasons.map((reason) => sentences[reason].replaceAll("{name}", username))
    yield* printList(
      given.json,
      reasons.map((reason, index) => ({ reason: String.camelToSnake(reason), text: lines[index] })),
      lines,
      `The post is in the home of ${username}, unless their filters or their settings of the web client hide it.`
    )
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Explains why a post is not in an account's home timeline"),
  withExamples(["ada https://example.com/notes/1", "Explains why ada does not see a post"])
)
