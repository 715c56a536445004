import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readPage } from "../../../src/services/cards/PageMetadata.ts"
import { structuredPage } from "../../../src/services/cards/StructuredData.ts"
import { foreignActor } from "../../../src/services/federation/documents/ForeignActor.ts"
import { foreignCollection } from "../../../src/services/federation/documents/ForeignCollection.ts"
import { foreignNote } from "../../../src/services/federation/documents/ForeignNote.ts"
import { asForeign, asList, type Foreign, urlReader } from "../../../src/services/federation/documents/ForeignValues.ts"
import { relMe } from "../../../src/services/html/Links.ts"
import { read as readCsv } from "../../../src/services/lists/BlockCsv.ts"
import { parse as parseJson } from "../../../src/services/outbound/BoundedJson.ts"
import { best } from "../../support/MachineSpeed.ts"
import { pauseIn } from "./Pauses.ts"
import { mixedText, worstTexts } from "./worstTexts.ts"

/** Maximum CPU milliseconds per text. */
const cpuMillisMax = 50
const documentUnits = 1_048_576

const self = "https://else.test/users/zoe"
const author = { uri: self, followersUrl: `${self}/followers` }
const now = Date.parse("2026-06-01T12:00:00Z")
const everybody = "https://www.w3.org/ns/activitystreams#Public"
const readUrl = urlReader([])

const properties = [
  "type attributedTo name nameMap summary summaryMap content contentMap source url icon image attachment tag to cc",
  "inReplyTo context conversation replies likes shares quote quoteUrl quoteUri endTime closed oneOf anyOf votersCount",
  "published updated sensitive interactionPolicy preferredUsername inbox outbox followers following featured featuredTags",
  "endpoints publicKey assertionMethod alsoKnownAs movedTo attributionDomains topic orderedItems"
].join(" ").split(" ")

const kinds: Readonly<Record<string, readonly [own: Foreign, read: (document: Foreign) => unknown]>> = {
  note: [
    { type: "Note", content: "<p>x</p>" },
    (document) => foreignNote(document, author, now, readUrl)
  ],
  article: [
    { type: "Article", name: "x", summary: "x" },
    (document) => foreignNote(document, author, now, readUrl)
  ],
  question: [
    { type: "Question", content: "<p>x</p>", oneOf: [{ type: "Note", name: "a" }, { type: "Note", name: "b" }] },
    (document) => foreignNote(document, author, now, readUrl)
  ],
  actor: [
    { id: self, type: "Person", preferredUsername: "zoe", inbox: `${self}/inbox` },
    (document) => foreignActor(document, new URL(self), readUrl)
  ],
  collection: [
    { type: "FeaturedCollection", name: "x" },
    (document) => foreignCollection(document, self, readUrl)
  ]
}

const mixed = mixedText(documentUnits)
const pieces = worstTexts(200).map(([, text]) => text)
const many = Array.from({ length: 4_000 }, (_, at) => pieces[at % pieces.length] ?? "")
const addresses = Array.from({ length: 9_000 }, (_, at) => `https://else.test/${at}`)
const things = ["Mention", "Hashtag", "Emoji", "PropertyValue", "Document", "Link", "Note", "FeaturedItem"].flatMap((
  type
) =>
  Array.from({ length: 150 }, (_, at) => ({
    type,
    id: `https://else.test/${type}/${at}`,
    name: many[at],
    value: many[at],
    href: addresses[at],
    url: addresses[at],
    mediaType: "text/html",
    icon: { type: "Image", url: addresses[at] },
    owner: self,
    publicKeyPem: many[at]
  }))
)
/** Values that fill a document. */
const values: Readonly<Record<string, unknown>> = {
  "a long text": mixed,
  "many texts": many,
  "many addresses": addresses,
  "many objects": things,
  "texts by language": Object.fromEntries(many.map((text, at) => [`a${at}`, text])),
  "one object with a long text": {
    type: "Note",
    id: "https://else.test/1",
    name: mixed,
    content: mixed.slice(0, 1_000)
  }
}

describe("F104: the worst documents of other servers", () => {
  it.each(Object.entries(kinds))(
    `take ${cpuMillisMax} ms of CPU at most, with any value in a property: %s`,
    (_, [own, read]) => {
      const usual = { id: "https://else.test/1", attributedTo: self, to: [everybody], published: "2026-01-01", ...own }
      const slow = properties.flatMap((property) =>
        Object.entries(values).flatMap(([name, value]) => {
          const millis = best(() => read({ ...usual, [property]: value }), cpuMillisMax / 2)
          return millis < cpuMillisMax ? [] : [`${property}, ${name}: ${Math.round(millis)} ms`]
        })
      )
      assert.deepStrictEqual(slow, [])
    }
  )

  it.each(["content", "summary", "name"])(
    `take ${cpuMillisMax} ms of CPU at most, with any text: %s`,
    (property) => {
      const slow = worstTexts(documentUnits).flatMap(([name, text]) =>
        Object.entries(kinds).flatMap(([kind, [own, read]]) => {
          const usual = {
            id: "https://else.test/1",
            attributedTo: self,
            to: [everybody],
            published: "2026-01-01",
            ...own
          }
          const millis = best(() => read({ ...usual, [property]: text }), cpuMillisMax / 2)
          return millis < cpuMillisMax ? [] : [`${kind}, ${name}: ${Math.round(millis)} ms`]
        })
      )
      assert.deepStrictEqual(slow, [])
    }
  )

  const pages = [
    ...worstTexts(documentUnits),
    ["many kinds", mixed] as const,
    [
      "newlines in structured data (131,000, eight times)",
      `<script type="application/ld+json">a${"\n".repeat(131_000)}b</script>`.repeat(8)
    ] as const,
    ["deep elements, and ends of none", "<b>".repeat(500) + "</i>".repeat(250_000)] as const
  ]
  it.effect(`pause the event loop for ${cpuMillisMax} ms at most: pages behind links`, () =>
    Effect.gen(function*() {
      const slow: Array<string> = []
      for (const [name, text] of pages) {
        for (let left = 5; left > 0; left--) {
          const [, pause] = yield* pauseIn(Effect.gen(function*() {
            const { structures } = yield* readPage(`<html><head>${text}`)
            yield* Effect.yieldNow
            structuredPage(structures)
            yield* Effect.yieldNow
            yield* relMe(`<html><body>${text}`)
          }))
          if (pause < cpuMillisMax) break
          if (left === 1) slow.push(`${name}: ${Math.round(pause)} ms`)
        }
      }
      assert.deepStrictEqual(slow, [])
    }))

  it.effect(`pause the event loop for ${cpuMillisMax} ms at most: lists of domains`, () =>
    Effect.gen(function*() {
      const slow: Array<string> = []
      for (const [name, text] of [...worstTexts(documentUnits), ["many kinds", mixed] as const]) {
        for (let left = 5; left > 0; left--) {
          const [, pause] = yield* pauseIn(readCsv(text, "reject", "here.test"))
          if (pause < cpuMillisMax) break
          if (left === 1) slow.push(`${name}: ${Math.round(pause)} ms`)
        }
      }
      assert.deepStrictEqual(slow, [])
    }))

  it(`take ${cpuMillisMax} ms of CPU at most: WebFinger, host-meta and nodeinfo, as JSON`, () => {
    const slow = Object.entries(values).flatMap(([name, value]) => {
      const text = JSON.stringify({ subject: mixed.slice(0, 1_000), links: value, aliases: value }).slice(
        0,
        documentUnits
      )
      const read = () => {
        const document = parseJson(text)
        return asList(asForeign(document)?.["links"]).map((link) => readUrl(asForeign(link)?.["href"]))
      }
      const millis = best(read, cpuMillisMax / 2)
      return millis < cpuMillisMax ? [] : [`${name}: ${Math.round(millis)} ms`]
    })
    assert.deepStrictEqual(slow, [])
  })
})
