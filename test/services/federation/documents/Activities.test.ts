import { assert, describe, it } from "@effect/vitest"
import * as Activities from "../../../../src/services/federation/documents/Activities.ts"
import { noteContext } from "../../../../src/services/federation/documents/NoteDocument.ts"
import {
  activityStreams,
  actorContext,
  publicCollection
} from "../../../../src/services/federation/documents/Vocabulary.ts"

const [anna, zoe] = ["https://here.test/users/anna", "https://there.test/users/zoe"]
const note = {
  id: `${anna}/statuses/1`,
  type: "Note",
  attributedTo: anna,
  to: [publicCollection],
  cc: [`${anna}/followers`]
}

/** Terms of a document that need no context: those of ActivityStreams itself. */
const known = new Set(
  "@context id type actor object target to cc published attributedTo name content inReplyTo".split(" ")
)
const words = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null) return []
  if (Array.isArray(value)) return value.flatMap(words)
  const fields = Object.entries(value).filter(([name]) => name !== "@context")
  return fields.map(([name]) => name).concat(fields.flatMap(([, inner]) => words(inner)))
}

describe("federation.md section 8: outgoing activities", () => {
  const follow = Activities.follow({ id: `${Activities.followIds(anna)}7`, actor: anna, object: zoe })
  const documents = {
    follow,
    undoFollow: Activities.undo(follow),
    accept: Activities.followResponse("Accept", { id: `${zoe}#1`, actor: zoe, object: anna }, "9"),
    reject: Activities.followResponse("Reject", { id: undefined, actor: zoe, object: anna }, "9"),
    like: Activities.like(anna, 3n, { uri: `${zoe}/notes/1`, author: zoe }),
    undoLike: Activities.undo(Activities.like(anna, 3n, { uri: `${zoe}/notes/1`, author: zoe })),
    block: Activities.block(anna, 4n, zoe),
    vote: Activities.vote(anna, "5-1", { uri: `${zoe}/notes/2`, author: zoe, option: "Tea" }),
    undoBlock: Activities.undo(Activities.block(anna, 4n, zoe)),
    flag: Activities.flag("https://here.test/actor", "6", {
      objects: [zoe, `${zoe}/notes/1`],
      comment: "rude",
      receivers: [zoe]
    }),
    add: Activities.pin("Add", anna, note.id, "7"),
    remove: Activities.pin("Remove", anna, note.id, "8"),
    deleteActor: Activities.deleteActor(anna),
    move: Activities.move(anna, zoe, "9")
  }

  for (const [name, { document, type, uri }] of Object.entries(documents)) {
    it(`${name} is complete: a context for each term, an id of the sender, a type`, () => {
      assert.strictEqual(document["@context"], activityStreams)
      assert.strictEqual(document["id"], uri)
      assert.strictEqual(document["type"], type)
      const sender = String(document["actor"])
      assert.isTrue(uri.startsWith(`${sender}#`), uri)
      assert.isEmpty(words(document).filter((word) => !known.has(word)))
    })
  }

  it("F41: personal activities and their Undo are addressed to the person; public ones are addressed as public", () => {
    for (
      const name of [
        "follow",
        "undoFollow",
        "accept",
        "reject",
        "like",
        "undoLike",
        "block",
        "undoBlock",
        "flag"
      ] as const
    ) {
      assert.deepStrictEqual<unknown>(documents[name].document["to"], [zoe], name)
    }
    const hashtag = Activities.featureTag("Add", anna, { type: "Hashtag", name: "#birds" }, "1")
    for (const { document } of [documents.add, documents.remove, hashtag]) {
      assert.deepStrictEqual<unknown>([document["to"], document["cc"]], [[publicCollection], [`${anna}/followers`]])
    }
  })

  it("a follow is named by its id when it is undone, accepted and rejected", () => {
    assert.strictEqual(follow.uri, `${anna}#follows/7`)
    assert.deepStrictEqual(documents.undoFollow.document["object"], {
      id: follow.uri,
      type: "Follow",
      actor: anna,
      object: zoe,
      to: [zoe]
    })
    assert.strictEqual(documents.accept.uri, `${anna}#accepts/follows/9`)
    assert.deepStrictEqual(documents.accept.document["object"], {
      id: `${zoe}#1`,
      type: "Follow",
      actor: zoe,
      object: anna
    })
    assert.deepStrictEqual(documents.reject.document["object"], { type: "Follow", actor: zoe, object: anna })
  })

  it("a vote is a note with the option's name, for the poll's author alone", () => {
    const { object, to } = documents.vote.document
    assert.strictEqual(to, zoe)
    assert.deepStrictEqual<unknown>(object, {
      id: `${anna}#votes/5-1`,
      type: "Note",
      name: "Tea",
      attributedTo: anna,
      inReplyTo: `${zoe}/notes/2`,
      to: zoe
    })
  })

  it("row 20: a report is from the server itself", () => {
    assert.deepStrictEqual<unknown>(documents.flag.document["object"], [zoe, `${zoe}/notes/1`])
    assert.strictEqual(documents.flag.document["actor"], "https://here.test/actor")
  })

  it("posts, their edits and deletions have the terms of notes; every update has a new id", () => {
    const create = Activities.published({ id: `${note.id}/activity`, type: "Create", actor: anna, object: note })
    const updates = [1_000, 2_000].map((millis) => Activities.updateNote(note, new Date(millis)))
    const gone = Activities.deleteNote(anna, note.id)
    for (const { document } of [create, ...updates, gone]) {
      assert.deepStrictEqual<unknown>(document["@context"], noteContext)
    }
    assert.strictEqual(new Set(updates.map(({ uri }) => uri)).size, 2)
    assert.deepInclude(updates[0]?.document, { type: "Update", actor: anna, object: note, to: note.to, cc: note.cc })
    assert.deepStrictEqual<unknown>(gone.document["object"], { id: note.id, type: "Tombstone", atomUri: note.id })
  })

  it("an undone boost embeds the boost, without a second context", () => {
    const boost = {
      id: `${anna}/statuses/2/activity`,
      type: "Announce",
      actor: anna,
      to: [publicCollection],
      object: zoe
    }
    const { document, uri } = Activities.undo(Activities.published(boost))
    assert.strictEqual(uri, `${boost.id}/undo`)
    assert.deepInclude(document, { type: "Undo", actor: anna, to: [publicCollection], object: boost })
  })

  it("a profile is announced once, with the vocabulary of profiles", () => {
    const { document, uri } = Activities.updateActor({ "@context": actorContext, id: anna, type: "Person" }, 5)
    assert.deepInclude(document, {
      "@context": actorContext,
      id: uri,
      type: "Update",
      actor: anna,
      to: [publicCollection]
    })
    assert.deepStrictEqual<unknown>(document["object"], { id: anna, type: "Person" })
  })
})
