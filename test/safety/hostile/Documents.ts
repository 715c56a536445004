import type { Json } from "../../services/federation/Peer.ts"
import type { Dice } from "../../simulation/Seeded.ts"
import { jsonText, oneOf, text } from "./Generate.ts"

/** Ids in a hostile server's documents: the actor itself, its other accounts, local accounts, and posts. */
export interface Known {
  readonly self: string
  readonly others: ReadonlyArray<string>
  readonly people: ReadonlyArray<string>
  /** Local and remote posts. */
  readonly posts: ReadonlyArray<string>
}

const everybody = "https://www.w3.org/ns/activitystreams#Public"
const fields = {
  note: [
    "id type attributedTo content contentMap summary summaryMap name published updated to cc tag attachment sensitive",
    "inReplyTo url context conversation replies likes shares source quote quoteUrl endTime closed oneOf anyOf votersCount"
  ].join(" ").split(" "),
  actor: [
    "name summary published updated icon image url attachment tag alsoKnownAs movedTo discoverable indexable followers",
    "following outbox featured featuredTags endpoints manuallyApprovesFollowers type attributionDomains memorial suspended"
  ].join(" ").split(" "),
  activity: ["published", "updated", "to", "cc", "object", "target", "content", "tag", "actor", "signature", "@context"]
}

/** Returns any JSON as a value. */
const anything = (dice: Dice): unknown => JSON.parse(jsonText(dice))

/** Returns a text, a date before or after all times, or a value of another type. */
const invalidValue = (dice: Dice): unknown =>
  oneOf(dice, () => text(dice), () => text(dice), () => anything(dice), () => [])

/** Replaces some fields of a document with values that no program writes, except those in `kept`. */
const corrupted = (dice: Dice, document: Json, names: ReadonlyArray<string>, exempt: ReadonlyArray<string>): Json => ({
  ...document,
  ...Object.fromEntries(
    Array.from({ length: dice.pick([0, 1, 1, 3]) }, () => dice.pick(names)).filter((name) => !exempt.includes(name))
      .map(
        (name) => [name, invalidValue(dice)]
      )
  )
})

const many = (dice: Dice, make: (n: number) => unknown) =>
  Array.from({ length: dice.pick([0, 1, 4, 300]) }, (_, n) => make(n))

/** Returns a note or a poll under one of a few ids, so that each recurs with another text, type and time. */
export const noteOf = (dice: Dice, { people, posts, self }: Known): Json => {
  const document: Json = {
    id: `${self}/notes/${dice.between(0, 6)}`,
    type: dice.pick(["Note", "Question", "Question", "Article", "Page", "Event", "Video"]),
    attributedTo: self,
    content: dice.chance(0.5) ? "<p>hello</p>" : text(dice),
    published: dice.pick([
      "2026-11-22T12:00:00Z",
      "9999-12-31T23:59:59Z",
      "+010000-01-01T00:00:00Z",
      "1066-10-14T00:00:00Z"
    ]),
    updated: dice.pick(["2026-11-22T12:00:01Z", "1900-01-01T00:00:00Z", "+010000-01-01T00:00:00Z", undefined]),
    to: dice.pick([[everybody], everybody, people, [...people, everybody]]),
    cc: dice.pick([[], people, [`${self}/followers`]]),
    tag: many(dice, (n) =>
      oneOf<unknown>(
        dice,
        () => ({ type: "Mention", href: dice.pick(people), name: text(dice) }),
        () => ({ type: "Hashtag", name: `#${text(dice)}`, href: text(dice) }),
        () => ({
          type: "Emoji",
          name: `:e${n}:`,
          updated: invalidValue(dice),
          icon: { type: "Image", url: invalidValue(dice) }
        }),
        () => anything(dice)
      )),
    attachment: many(dice, () => ({
      type: dice.pick(["Document", "Image", "Video", "Audio"]),
      mediaType: dice.pick(["image/png", "video/mp4", "x"]),
      url: `${self}/file.png`,
      name: text(dice),
      width: dice.pick([1e9, -1, 0.5, "9", null]),
      height: dice.pick([1e9, 1, Number.MAX_SAFE_INTEGER]),
      focalPoint: invalidValue(dice),
      blurhash: invalidValue(dice),
      duration: invalidValue(dice)
    })),
    ...(dice.chance(0.3) && { inReplyTo: dice.pick(posts) }),
    ...(dice.chance(0.6) && {
      endTime: dice.pick(["+010000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", text(dice)]),
      closed: dice.pick([true, "+275760-09-13T00:00:00.000Z", undefined]),
      votersCount: dice.pick([1e18, -1, "x", 2]),
      [dice.pick(["oneOf", "anyOf"])]: Array.from({ length: dice.pick([2, 2, 4, 300]) }, () => ({
        type: "Note",
        name: dice.chance(0.5) ? `option ${dice.next()}` : text(dice),
        replies: { type: "Collection", totalItems: dice.pick([1e18, 3, -1, "9007199254740993"]) }
      }))
    })
  }
  return corrupted(dice, document, fields.note, dice.chance(0.9) ? ["id", "type", "attributedTo"] : [])
}

/** Returns an actor's document with unchanged id and keys, so that its claims about itself are accepted. */
export const actorOf = (dice: Dice, document: Json): Json =>
  corrupted(
    dice,
    {
      ...document,
      name: text(dice),
      summary: text(dice),
      published: dice.pick(["+010000-01-01T00:00:00Z", "0000-01-01", "2026-01-01T00:00:00Z"]),
      attachment: many(dice, () => ({ type: "PropertyValue", name: text(dice), value: text(dice) }))
    },
    fields.actor,
    []
  )

/** Returns the next activity of a hostile server: any kind, in any order, under recurring ids. */
export const activityOf = (dice: Dice, known: Known, actor: Json): Json => {
  const { others, people, posts, self } = known
  const id = `${self}/activities/${dice.between(0, 12)}`
  const follow = {
    id: `${self}/activities/follow`,
    type: "Follow",
    actor: dice.pick([self, ...people]),
    object: dice.pick([self, ...people])
  }
  const about = () => dice.pick([...posts, ...people, ...others, self, `${self}/notes/0`, follow])
  const activity = oneOf<Json>(
    dice,
    () => ({ type: "Create", object: noteOf(dice, known) }),
    () => ({ type: "Create", object: noteOf(dice, known) }),
    () => ({ type: "Update", object: noteOf(dice, known) }),
    () => ({ type: "Update", object: actorOf(dice, actor) }),
    () => ({
      type: dice.pick(["Accept", "Reject", "Block", "Undo", "Follow", "Like", "Announce", "Flag"]),
      object: about()
    }),
    () => ({ type: dice.pick(["Follow", "Block"]), object: dice.pick(people) }),
    () => ({
      type: "Undo",
      object: { id, type: dice.pick(["Follow", "Block", "Like", "Announce", "Accept"]), actor: self, object: about() }
    }),
    () => ({ type: dice.pick(["Accept", "Reject"]), object: follow }),
    () => ({ type: dice.pick(["Announce", "Like"]), object: dice.pick(posts), published: text(dice), to: [everybody] }),
    () => ({
      type: dice.pick(["Add", "Remove"]),
      object: about(),
      target: dice.pick([`${self}/featured`, text(dice)])
    }),
    () => ({
      type: dice.pick(["Delete", "Move", "Flag", "EmojiReact", "View", text(dice)]),
      object: dice.pick([`${self}/notes/1`, ...posts]),
      target: about()
    })
  )
  return corrupted(
    dice,
    { "@context": "https://www.w3.org/ns/activitystreams", id, actor: self, to: people, ...activity },
    fields.activity,
    dice.chance(0.9) ? ["actor", "@context"] : []
  )
}
