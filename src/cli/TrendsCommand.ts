import { Console, Effect, Layer, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import * as Environment from "../layers/Environment.ts"
import { OperatorError } from "../layers/OperatorError.ts"
import { IdFromString } from "../services/database/Ids.ts"
import { Accounts } from "../services/identity/Accounts.ts"
import { traced } from "../services/runtime/Traced.ts"
import { TrendReviews, type TrendSubject } from "../services/trends/TrendReviews.ts"
import { withExamples } from "./Examples.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

const services = Layer.mergeAll(TrendReviews.layer, Accounts.layer).pipe(
  Layer.provideMerge(Environment.serverConfig),
  Layer.provideMerge(Operator.layer)
)

const kinds = ["tag", "account", "status", "site", "link"] as const

const waiting = Command.make(
  "waiting",
  { json },
  traced("trends waiting")(function*(given) {
    const all = yield* (yield* TrendReviews).waiting
    const lines = all.map(({ by, id, kind, name }) =>
      (kind === "tag" ? [kind, name] : [kind, String(id), name, by]).join("\t")
    )
    yield* printList(given.json, all, lines, "Nothing is waiting for review.")
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription(
    "Lists unreviewed trend candidates: hashtags, posts with their authors, links with their sites"
  ),
  withExamples(["", "Lists trends that need review"])
)

const idOf = Schema.decodeUnknownEffect(IdFromString)

/** Returns the subject that a command's arguments name. */
const subjectOf = Effect.fnUntraced(
  function*(kind: (typeof kinds)[number], name: string): Effect.fn.Return<TrendSubject, unknown, Accounts> {
    switch (kind) {
      case "tag":
        return { kind, name }
      case "site":
        return { kind, site: name.toLowerCase() }
      case "account":
        return { kind, id: yield* (yield* Accounts).lookup(name) }
      case "status":
        return { kind, id: yield* idOf(name) }
      case "link":
        return { kind, cardId: yield* idOf(name) }
    }
  }
)

const decision = (word: "approve" | "reject", done: string, description: string, trendable: boolean) =>
  Command.make(
    word,
    {
      kind: Argument.Literals("kind", kinds).pipe(
        Argument.withDescription(`${kinds.join(", ")}; account means all its posts, site all its pages`)
      ),
      name: Argument.String("name").pipe(
        Argument.withDescription(
          "Name of the hashtag, handle of the account or domain of the site; for a status or link, its number in `trends waiting`"
        )
      )
    },
    traced(`trends ${word}`)(function*({ kind, name }) {
      yield* subjectOf(kind, name).pipe(
        Effect.flatMap((subject) =>
          Effect.flatMap(TrendReviews, ({ decide }) => decide(undefined, subject, trendable))
        ),
        Effect.mapError(() => new OperatorError({ message: `There is no ${kind} ${name} here` }))
      )
      yield* Console.log(`The ${kind} ${name} ${done}.`)
    }, (effect) => Effect.provide(effect, services))
  ).pipe(
    Command.withDescription(description),
    withExamples(["tag caturday", `${description}: here a hashtag`], [
      "site news.example",
      "Decides about all pages of a site"
    ])
  )

export const command = Command.make("trends").pipe(
  Command.withDescription("Review of trends"),
  withExamples(["waiting", "Lists trends that need review"]),
  Command.withSubcommands([
    waiting,
    decision("approve", "may trend", "Allows something to trend", true),
    decision("reject", "no longer trends", "Prevents something from trending", false)
  ])
)
