import { Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { OperatorError } from "../layers/OperatorError.ts"
import type { Announcement, AnnouncementChange } from "../services/announcements/Announcement.ts"
import { AnnouncementWriter } from "../services/announcements/AnnouncementWriter.ts"
import { transaction } from "../services/database/Transactions.ts"
import { traced } from "../services/runtime/Traced.ts"
import { withExamples } from "./Examples.ts"
import * as Operator from "./Operator.ts"
import { json, printList } from "./Output.ts"

const services = AnnouncementWriter.layer.pipe(Layer.provideMerge(Operator.layer))

const id = Argument.String("id").pipe(
  Argument.withDescription("Id of the announcement in `announcement list`"),
  Argument.filterMap(
    (text) => /^[0-9]{1,18}$/.test(text) ? Option.some(BigInt(text)) : Option.none(),
    (text) => `${text} is not an id`
  )
)
const moment = (name: string, description: string) =>
  Flag.Date(name).pipe(Flag.withDescription(description), Flag.optional)
const texts = Argument.String("text").pipe(
  Argument.withDescription("Text of the announcement; mentions, hashtags and URLs become links")
)
const times = {
  "starts-at": moment("starts-at", "Start of the announced event, as 2026-12-24T18:00Z"),
  "ends-at": moment("ends-at", "End of the event; the announcement is then unpublished"),
  "publish-at": moment("publish-at", "Time of publication")
}
const allDay = Flag.Boolean("all-day").pipe(Flag.withDescription("Shows dates without times"))

interface Times {
  readonly "starts-at": Option.Option<Date>
  readonly "ends-at": Option.Option<Date>
  readonly "publish-at": Option.Option<Date>
}
const timesOf = (given: Times): AnnouncementChange => {
  const millis = (name: keyof Times) => Option.map(given[name], (date) => date.getTime())
  const [startsAt, endsAt, scheduledAt] = [millis("starts-at"), millis("ends-at"), millis("publish-at")]
  return {
    ...(Option.isSome(startsAt) && { startsAt: startsAt.value }),
    ...(Option.isSome(endsAt) && { endsAt: endsAt.value }),
    ...(Option.isSome(scheduledAt) && { scheduledAt: scheduledAt.value })
  }
}

/** Runs a staff action in a transaction; its failures become operator errors. */
const act = <A, E extends { readonly message: string }>(
  work: (writer: AnnouncementWriter["Service"]) => Effect.Effect<A, E | SqlError>
) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return yield* work(yield* AnnouncementWriter).pipe(
      transaction(sql),
      Effect.mapError(({ message }) => new OperatorError({ message }))
    )
  })

const add = Command.make(
  "add",
  {
    text: texts,
    ...times,
    allDay: Flag.withDefault(allDay, false),
    unpublished: Flag.Boolean("unpublished").pipe(
      Flag.withDescription("Keeps it unpublished until `announcement publish`"),
      Flag.withDefault(false)
    )
  },
  traced("announcement add")(function*({ allDay, text, unpublished, ...given }) {
    const added = yield* act((writer) => writer.add(undefined, { text, allDay, ...timesOf(given) }, unpublished))
    yield* Console.log(`Announcement ${added} was added.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Creates an announcement, published now or later"),
  withExamples(["\"Maintenance on Sunday\"", "Publishes an announcement now"], [
    "\"Meeting\" --starts-at 2026-12-24T18:00Z --ends-at 2026-12-24T20:00Z",
    "Announces an event; it ends by itself"
  ])
)

const stateOf = ({ publishedAt, scheduledAt }: Announcement) =>
  publishedAt !== null ? "published" : scheduledAt === null ? "unpublished" : `from ${scheduledAt.toISOString()}`
const rangeOf = ({ endsAt, startsAt }: Announcement) =>
  startsAt === null || endsAt === null ? "-" : `${startsAt.toISOString()}/${endsAt.toISOString()}`

const list = Command.make(
  "list",
  { json },
  traced("announcement list")(function*(given) {
    const all = yield* act((writer) => writer.list)
    const lines = all.map((one) => [one.id, stateOf(one), rangeOf(one), one.text.replaceAll(/\s+/g, " ")].join("\t"))
    yield* printList(given.json, all, lines, "There are no announcements.")
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Lists announcements, the newest first"),
  withExamples(["", "Lists all announcements with their ids"])
)

const edit = Command.make(
  "edit",
  {
    id,
    text: Flag.optional(Flag.String("text").pipe(Flag.withDescription("New text"))),
    ...times,
    allDay: Flag.optional(allDay),
    always: Flag.Boolean("always").pipe(
      Flag.withDescription("Removes its start and end"),
      Flag.withDefault(false)
    )
  },
  traced("announcement edit")(function*({ allDay, always, id, text, ...given }) {
    const change: AnnouncementChange = {
      ...(Option.isSome(text) && { text: text.value }),
      ...(Option.isSome(allDay) && { allDay: allDay.value }),
      ...timesOf(given),
      ...(always && { startsAt: null, endsAt: null })
    }
    yield* act((writer) => writer.edit(undefined, id, change))
    yield* Console.log(`Announcement ${id} was changed.`)
  }, (effect) => Effect.provide(effect, services))
).pipe(
  Command.withDescription("Changes the given fields of an announcement"),
  withExamples(["42 --text \"Maintenance on Monday\"", "Changes the text"], ["42 --always", "Removes start and end"])
)

/** Builds a command about one existing announcement. */
const about = (name: "publish" | "unpublish" | "remove", description: string, done: string) =>
  Command.make(
    name,
    { id },
    traced(`announcement ${name}`)(function*(given) {
      yield* act((writer) => writer[name](undefined, given.id))
      yield* Console.log(`Announcement ${given.id} was ${done}.`)
    }, (effect) => Effect.provide(effect, services))
  ).pipe(Command.withDescription(description), withExamples(["42", description]))

export const command = Command.make("announcement").pipe(
  Command.withDescription("Announcements to all users of the server"),
  withExamples(["add \"Maintenance on Sunday\"", "Publishes an announcement now"]),
  Command.withSubcommands([
    add,
    list,
    edit,
    about("publish", "Publishes an announcement", "published"),
    about("unpublish", "Unpublishes an announcement and keeps it", "unpublished"),
    about("remove", "Removes an announcement with its reactions", "removed")
  ])
)
