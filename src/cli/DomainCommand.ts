import { Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { DomainAllows } from "../services/federation/domains/DomainAllows.ts"
import { type DomainBlockRecord, DomainBlocks } from "../services/federation/domains/DomainBlocks.ts"
import { type BlockReaders, PublishedBlocks } from "../services/federation/domains/PublishedBlocks.ts"
import type { Unprocessable } from "../services/runtime/Errors.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError } from "./Lookup.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

const services = Layer.merge(PublishedBlocks.layer, DomainAllows.layer).pipe(Layer.provideMerge(Operator.layer))

const domain = Argument.String("domain").pipe(
  Argument.withDescription("Domain of a server, for example spam.example; includes its subdomains")
)
const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.optional)
const confirmed = Flag.Boolean("confirmed").pipe(
  Flag.withDescription("Required for a public suffix such as co.uk, which includes every domain below it"),
  Flag.withDefault(false)
)
const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** Returns the change of a field whose flag was given; empty without the flag. */
const given = <Name extends string, A>(name: Name, value: Option.Option<A>): { readonly [N in Name]?: A } =>
  Option.isSome(value) ? { [name]: value.value } as { readonly [N in Name]: A } : {}

const describe = (
  { domain, obfuscate, privateComment, publicComment, rejectMedia, rejectReports, severity }: DomainBlockRecord
) =>
  [
    domain,
    severity,
    ...(rejectMedia ? ["reject-media"] : []),
    ...(rejectReports ? ["reject-reports"] : []),
    ...(obfuscate ? ["obfuscate"] : []),
    ...(privateComment === null ? [] : [`(${privateComment})`]),
    ...(publicComment === null ? [] : [`"${publicComment}"`])
  ].join("\t")

const block = Command.make(
  "block",
  {
    domain,
    severity: Flag.Literals("severity", ["silence", "suspend", "noop"]).pipe(
      Flag.withDescription(
        "silence: only followers see its posts; suspend: ends all exchange and follows; noop: neither"
      ),
      Flag.optional
    ),
    rejectMedia: toggle("reject-media", "Rejects its media files, avatars and emoji"),
    rejectReports: toggle("reject-reports", "Drops its reports"),
    comment: text("comment", "Private comment for staff"),
    publicComment: text("public-comment", "Comment in the public list of blocks"),
    obfuscate: toggle("obfuscate", "Obscures the domain in the public list"),
    confirmed
  },
  traced("domain block")(function*(flags) {
    const block = yield* asOperatorError((yield* DomainBlocks).block(flags.domain, {
      ...given("severity", flags.severity),
      ...given("rejectMedia", flags.rejectMedia),
      ...given("rejectReports", flags.rejectReports),
      ...given("privateComment", flags.comment),
      ...given("publicComment", flags.publicComment),
      ...given("obfuscate", flags.obfuscate),
      confirmed: flags.confirmed
    }))
    yield* Console.log(describe(block))
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Blocks a server or changes its block; the default is to silence it"),
  withExamples(["spam.example --severity suspend", "Ends all exchange with a server"], [
    "rude.example --reject-media --public-comment \"Adult media\"",
    "Silences a server and drops its media"
  ])
)

/** Builds a command about one domain; `none` is the error if there was nothing to do. */
const about = (
  name: string,
  description: string,
  done: string,
  none: string,
  act: (domain: string) => Effect.Effect<boolean, Unprocessable, DomainAllows | DomainBlocks>
) =>
  Command.make(
    name,
    { domain },
    traced(`domain ${name}`)(function*(given) {
      const changed = yield* asOperatorError(act(given.domain))
      if (!changed) return yield* new OperatorError({ message: `${given.domain} ${none}` })
      yield* Console.log(`${given.domain} ${done}.`)
    }, (effect) => Effect.provide(effect, services))
  ).pipe(Command.withDescription(description), withExamples(["spam.example", description]))

const allow = Command.make(
  "allow",
  { domain, confirmed },
  traced("domain allow")(function*(given) {
    const allow = yield* asOperatorError((yield* DomainAllows).allow(given.domain, { confirmed: given.confirmed }))
    yield* Console.log(`${allow.domain} is allowed.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Adds a server to the allow-list of LIMITED_FEDERATION"),
  withExamples(["friends.example", "Allows a server and its subdomains"])
)

const list = Command.make(
  "list",
  { json },
  traced("domain list")(function*(given) {
    const blocks = yield* (yield* DomainBlocks).blocks
    const allows = yield* (yield* DomainAllows).allows
    yield* printList(
      given.json,
      [
        ...blocks.map((block) => ({ rule: "block", ...block })),
        ...allows.map((allow) => ({ rule: "allow", ...allow }))
      ],
      [...blocks.map(describe), ...allows.map(({ domain }) => `${domain}\tallowed`)],
      "There are no domain blocks or allowed domains."
    )
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Lists domain blocks, strictest first, and allowed servers"),
  withExamples(["", "Lists all rules about servers"], ["--json", "Lists them for a script"])
)

/** Settings by the values of the command's argument. */
const readers = { everybody: "all", users: "users", nobody: "disabled" } satisfies Record<string, BlockReaders>
const words = ["everybody", "users", "nobody"] as const

const publish = Command.make(
  "publish",
  {
    to: Argument.Literals("to", words).pipe(
      Argument.withDescription(`Readers of the list of blocks: ${words.join(", ")}`)
    ),
    comments: Flag.Literals("comments", words).pipe(
      Flag.withDescription("Readers of the public comments on the blocks"),
      Flag.optional
    )
  },
  traced("domain publish")(function*(given) {
    const published = yield* PublishedBlocks
    yield* published.publish("list", readers[given.to])
    if (Option.isSome(given.comments)) yield* published.publish("comments", readers[given.comments.value])
    yield* Console.log(`The list of blocks is now visible to: ${given.to}.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Publishes the list of blocks at /api/v1/instance/domain_blocks"),
  withExamples(["everybody", "Shows the list to everybody"], [
    "everybody --comments users",
    "Shows the list to everybody, and the comments to users only"
  ])
)

export const command = Command.make("domain").pipe(
  Command.withDescription("Rules about other servers"),
  withExamples(["block spam.example --severity suspend", "Ends all exchange with a server"]),
  Command.withSubcommands([
    block,
    about(
      "unblock",
      "Removes a block and lifts its effects",
      "is no longer blocked",
      "is not blocked",
      (domain) => DomainBlocks.use(({ unblock }) => unblock(domain))
    ),
    allow,
    about(
      "disallow",
      "Removes a server from the allow-list",
      "is no longer allowed",
      "is not allowed",
      (domain) => DomainAllows.use(({ disallow }) => disallow(domain))
    ),
    list,
    publish
  ])
)
