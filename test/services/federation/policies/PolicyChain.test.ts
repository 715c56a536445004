import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type ActivityFacts,
  change,
  drop,
  type InboundPolicy
} from "../../../../src/services/federation/policies/InboundPolicy.ts"
import { chain, judge } from "../../../../src/services/federation/policies/PolicyChain.ts"

const facts = (more: Partial<ActivityFacts> = {}, policy: Partial<ActivityFacts["policy"]> = {}): ActivityFacts => ({
  policy: { severity: "noop", rejectMedia: false, rejectReports: false, allowed: true, ...policy },
  suspended: false,
  blockers: new Set(),
  blockedByAuthor: false,
  ...more
})
const types = [
  ["Accept", "Add", "Announce", "Block", "Create", "Delete", "Flag", "Follow", "Like"],
  ["Move", "Reject", "Remove", "Undo", "Update", "EmojiReact", "Something"]
].flat()
const passing = (known: ActivityFacts, object: unknown = "https://a.test/1") =>
  types.filter((type) => judge({ type, object }, known).passes)

describe("the chain of rules", () => {
  it("row 17: who is nobody's enemy passes unchanged, whatever it sends", () => {
    assert.deepStrictEqual(passing(facts()), types)
    for (const type of types) {
      const activity = { type, object: { type: "Note", tag: [{ type: "Emoji" }], attachment: [1], to: ["x"] } }
      assert.deepStrictEqual(judge(activity, facts()), { passes: true, activity, changes: [] })
    }
  })

  it("row 17: from a closed domain comes nothing, of a suspended sender only what takes back", () => {
    assert.deepStrictEqual(passing(facts({}, { allowed: false })), [])
    assert.deepStrictEqual(passing(facts({ suspended: true })), ["Delete", "Reject", "Undo", "Update"])
    assert.deepStrictEqual(judge({ type: ["Undo", "Follow"] }, facts({ suspended: true }, { allowed: false })), {
      passes: false,
      reason: "its domain is closed"
    })
  })

  it("row 17: who is blocked by the author neither likes nor boosts", () => {
    const blocked = passing(facts({ blockedByAuthor: true }))
    assert.deepStrictEqual(types.filter((type) => !blocked.includes(type)), ["Announce", "Like", "EmojiReact"])
  })

  it("reports of a domain are rejected, and nothing else of it", () => {
    const rejecting = passing(facts({}, { rejectReports: true }))
    assert.deepStrictEqual(types.filter((type) => !rejecting.includes(type)), ["Flag"])
  })

  it("of a domain whose files are rejected come words only", () => {
    const object = {
      type: "Note",
      content: "hi",
      attachment: [{ type: "Image", url: "https://a.test/a.png" }],
      icon: { type: "Image" },
      tag: [{ type: "Emoji", name: ":a:" }, { type: "Hashtag", name: "#b" }]
    }
    assert.deepStrictEqual(judge({ type: "Create", object }, facts({}, { rejectMedia: true })), {
      passes: true,
      activity: { type: "Create", object: { type: "Note", content: "hi", tag: [{ type: "Hashtag", name: "#b" }] } },
      changes: ["files of its domain are rejected"]
    })
  })

  it("nobody is mentioned or addressed by whom they block", () => {
    const object = {
      type: "Note",
      to: ["https://here.test/users/a", "https://here.test/users/b"],
      cc: "https://here.test/users/a",
      tag: [
        { type: "Mention", href: "https://here.test/users/a" },
        { type: "Mention", href: "https://here.test/users/b" }
      ]
    }
    const judged = judge({ type: "Create", object }, facts({ blockers: new Set(["https://here.test/users/a"]) }))
    assert.deepStrictEqual(judged, {
      passes: true,
      activity: {
        type: "Create",
        object: {
          type: "Note",
          to: ["https://here.test/users/b"],
          cc: [],
          tag: [{ type: "Mention", href: "https://here.test/users/b" }]
        }
      },
      changes: ["a block is between its sender and somebody whom it names"]
    })
  })

  it("each rule sees what those before it left, and the first that drops has the last word", () => {
    const words: InboundPolicy = (activity) =>
      activity["content"] === "spam" ? drop("spam") : change({ content: "spam" }, "words")
    const known = facts()
    assert.deepStrictEqual(judge({ content: "hi" }, known, [words, words]), { passes: false, reason: "spam" })
    assert.deepStrictEqual(judge({ content: "hi" }, known, [words]), {
      passes: true,
      activity: { content: "spam" },
      changes: ["words"]
    })
  })

  const Anything = Schema.Record(Schema.String, Schema.Json)
  it.prop("row 32: no rule fails on anything that is JSON", { activity: Anything, object: Anything }, (given) => {
    const known = facts({ suspended: false, blockers: new Set([""]) }, { rejectMedia: true, rejectReports: true })
    for (const type of types) {
      for (const policy of chain) policy({ ...given.activity, type, object: given.object }, known)
      for (const field of ["to", "cc", "tag", "attachment", "type"]) {
        for (const policy of chain) policy({ type, object: { ...given.object, [field]: given.activity } }, known)
      }
    }
  })
})
