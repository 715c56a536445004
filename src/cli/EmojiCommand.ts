import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../layers/OperatorError.ts"
import { emojiBytesMax } from "../services/instance/ContentLimits.ts"
import { Emojis } from "../services/media/Emojis.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import { asOperatorError } from "./Lookup.ts"
import * as MediaServices from "./MediaServices.ts"
import { json, printList } from "./Output.ts"
import { file, formatBytes, pictureAt } from "./PictureFile.ts"

const shortcode = Argument.String("shortcode").pipe(
  Argument.map((text) => text.replace(/^:(.*):$/, "$1")),
  Argument.withDescription("Shortcode of the emoji, without colons")
)

const missing = (shortcode: string) => () => new OperatorError({ message: `There is no emoji :${shortcode}: here` })

const add = Command.make(
  "add",
  {
    shortcode,
    file,
    category: Flag.optional(Flag.String("category").pipe(Flag.withDescription("Category in emoji pickers"))),
    unlisted: Flag.Boolean("unlisted").pipe(
      Flag.withDescription("Works in posts but is not listed in emoji pickers"),
      Flag.withDefault(false)
    )
  },
  traced("emoji add")(function*(given) {
    const source = yield* pictureAt(given.file, emojiBytesMax)
    const emoji = {
      shortcode: given.shortcode,
      category: Option.getOrNull(given.category),
      listed: !given.unlisted
    }
    yield* asOperatorError((yield* Emojis).add(undefined, emoji, source))
    yield* Console.log(`Emoji :${given.shortcode}: was added.`)
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(
  Command.withDescription("Adds an emoji: PNG, GIF or WebP, 256 KB at most"),
  withExamples(["blobcat blobcat.png --category Cats", "Adds :blobcat: to the category Cats"])
)

const list = Command.make(
  "list",
  { json },
  traced("emoji list")(function*(given) {
    const all = yield* (yield* Emojis).list
    const lines = all.map(({ bytes, category, disabled, listed, shortcode }) =>
      [
        `:${shortcode}:`,
        category ?? "-",
        formatBytes(bytes),
        ...(listed ? [] : ["unlisted"]),
        ...(disabled ? ["disabled"] : [])
      ].join("\t")
    )
    const entities = all.map(({ bytes, category, disabled, listed, shortcode }) => ({
      shortcode,
      category,
      visibleInPicker: listed,
      disabled,
      bytes
    }))
    yield* printList(given.json, entities, lines, "There are no emoji.")
  }, (effect) => Effect.provide(effect, MediaServices.layer))
).pipe(
  Command.withDescription("Lists this server's emoji"),
  withExamples(["", "Lists shortcodes, categories and sizes"])
)

/** Builds a command about one existing emoji. */
const about = (
  name: string,
  description: string,
  done: string,
  act: (emojis: Emojis["Service"], shortcode: string) => ReturnType<Emojis["Service"]["change"]>
) =>
  Command.make(
    name,
    { shortcode },
    traced(`emoji ${name}`)(function*(given) {
      yield* Effect.mapError(act(yield* Emojis, given.shortcode), missing(given.shortcode))
      yield* Console.log(`Emoji :${given.shortcode}: was ${done}.`)
    }, (effect) => Effect.provide(effect, MediaServices.layer))
  ).pipe(Command.withDescription(description), withExamples(["blobcat", description]))

export const command = Command.make("emoji").pipe(
  Command.withDescription("Custom emoji of this server"),
  withExamples(["add blobcat blobcat.png", "Adds :blobcat:"]),
  Command.withSubcommands([
    add,
    list,
    about(
      "disable",
      "Hides an emoji everywhere and keeps it",
      "disabled",
      (emojis, shortcode) => emojis.change(undefined, shortcode, { disabled: true })
    ),
    about(
      "enable",
      "Enables a disabled emoji",
      "enabled",
      (emojis, shortcode) => emojis.change(undefined, shortcode, { disabled: false })
    ),
    about(
      "remove",
      "Removes an emoji and its files",
      "removed",
      (emojis, shortcode) => emojis.remove(undefined, shortcode)
    )
  ])
)
