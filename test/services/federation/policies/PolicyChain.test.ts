import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { activityTypeOf, activityTypes, hasTrait } from "../../../../src/services/federation/documents/ActivityTypes.ts"
import { carryingFields, postsIn } from "../../../../src/services/federation/documents/CarriedPosts.ts"
import { asActivity } from "../../../../src/services/federation/documents/Envelopes.ts"
import { mentions } from "../../../../src/services/federation/policies/BlockPolicies.ts"
import { files } from "../../../../src/services/federation/policies/FilePolicies.ts"
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
  separated: new Set(),
  ...more
})
const types = [...activityTypes, "Something"]
const passing = (known: ActivityFacts, object: unknown = "https://a.test/1") =>
  types.filter((type) => judge({ type, object }, known).passes)

describe("the chain of rules", () => {
  it("row 17: activities of an unblocked account pass unchanged", () => {
    assert.deepStrictEqual(passing(facts()), types)
    for (const type of types) {
      const activity = { type, object: { type: "Note", tag: [{ type: "Emoji" }], attachment: [1], to: ["x"] } }
      assert.deepStrictEqual(judge(activity, facts()), { passes: true, activity, changes: [] })
    }
  })

  it("row 17: nothing passes from a closed domain, and only activities that undo something from a suspended sender", () => {
    assert.deepStrictEqual(passing(facts({}, { allowed: false })), [])
    assert.deepStrictEqual(passing(facts({ suspended: true })), ["Delete", "Reject", "Undo", "Update"])
    assert.deepStrictEqual(judge({ type: ["Undo", "Follow"] }, facts({ suspended: true }, { allowed: false })), {
      passes: false,
      reason: "its domain is closed"
    })
  })

  it("row 17: an account blocked by the author can neither like nor boost", () => {
    const blocked = passing(facts({ separated: new Set(["https://a.test/1"]) }))
    assert.deepStrictEqual(types.filter((type) => !blocked.includes(type)), ["Announce", "EmojiReact", "Like"])
  })

  it("reports from a domain are rejected, and nothing else from it", () => {
    const rejecting = passing(facts({}, { rejectReports: true }))
    assert.deepStrictEqual(types.filter((type) => !rejecting.includes(type)), ["Flag"])
  })

  it("posts of a domain with rejected files keep only text", () => {
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

  it("accounts that the recipient blocks cannot mention or address them", () => {
    const object = {
      type: "Note",
      to: ["https://here.test/users/a", "https://here.test/users/b"],
      cc: "https://here.test/users/a",
      tag: [
        { type: "Mention", href: "https://here.test/users/a" },
        { type: "Mention", href: "https://here.test/users/b" }
      ]
    }
    const judged = judge({ type: "Create", object }, facts({ separated: new Set(["https://here.test/users/a"]) }))
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
      changes: ["a block between its sender and an account that it references"]
    })
  })

  it("each rule sees the changes of earlier ones, and the first that drops ends the chain", () => {
    const words: InboundPolicy = (activity) =>
      activity["content"] === "spam" ? drop("spam") : change(activity, { content: "spam" }, "words")
    const known = facts()
    assert.deepStrictEqual(judge({ content: "hi" }, known, [words, words]), { passes: false, reason: "spam" })
    assert.deepStrictEqual(judge({ content: "hi" }, known, [words]), {
      passes: true,
      activity: { content: "spam" },
      changes: ["words"]
    })
  })

  const enemy = "https://here.test/users/a"
  const theirs = "https://here.test/users/a/statuses/1"
  /** A post with a file and an emoji that refers to a separated account in every way. */
  const referring = {
    id: "https://a.test/2",
    type: "Note",
    attributedTo: "https://a.test",
    content: "hi",
    to: [enemy, "https://here.test/users/b"],
    cc: enemy,
    bto: [enemy],
    bcc: [enemy],
    audience: enemy,
    inReplyTo: theirs,
    quote: theirs,
    quoteUri: { id: theirs },
    quoteUrl: [theirs],
    "_misskey_quote": theirs,
    tag: [
      { type: "Mention", href: enemy },
      { type: "Link", href: theirs },
      { type: "Emoji", name: ":a:", icon: { type: "Image", url: "https://a.test/a.png" } }
    ],
    attachment: [{ type: "Image", url: "https://a.test/a.png" }],
    image: { type: "Image", url: "https://a.test/a.png" },
    icon: { type: "Image", url: "https://a.test/a.png" },
    url: [{ type: "Link", mediaType: "image/png", href: "https://a.test/a.png" }]
  }
  const carriers: ReadonlyArray<(post: unknown) => unknown> = [
    (post) => post,
    (post) => [post],
    (post) => ["https://a.test/9", post, post],
    (post) => ({ type: "Announce", id: "https://a.test/3", object: post }),
    (post) => ({ type: "QuoteRequest", id: "https://a.test/3", instrument: [{ type: "Create", object: post }] }),
    (post) => ({ type: "A", object: { type: "A", object: { type: "A", object: { type: "A", object: post } } } })
  ]

  it("F70: no policy misses a post, in any type, field or depth of an activity", () => {
    const separated = new Set([enemy, theirs])
    for (const type of types) {
      for (const field of carryingFields) {
        for (const [place, carried] of carriers.entries()) {
          const activity = asActivity({ type, actor: "https://a.test", [field]: carried(referring) }) ?? {}
          const context = `${type} ${field} ${place}`
          for (const policy of chain) {
            const judged = judge(activity, facts({ separated }, { rejectMedia: true }), [policy])
            if (!judged.passes) continue
            const text = JSON.stringify(judged.activity)
            if (policy === mentions) assert.notInclude(text, enemy, context)
            if (policy === files) assert.notInclude(text, "a.png", context)
          }
          const all = judge(activity, facts({ separated }, { rejectMedia: true }))
          assert.isTrue(all.passes, context)
          assert.notMatch(JSON.stringify(all.passes && all.activity), /users\/a\b|a\.png/, context)
          for (const one of all.passes ? postsIn(all.activity) : []) {
            if (one["type"] === "Note") assert.deepInclude(one, { content: "hi", to: ["https://here.test/users/b"] })
          }
        }
      }
    }
  })

  it("F70: closed domains, suspended senders and rejected media apply to each type that has a handler", () => {
    for (const type of types) {
      const activity = { type, object: referring, instrument: referring }
      assert.isFalse(judge(activity, facts({}, { allowed: false })).passes, type)
      const known = activityTypes.find((one) => one === type)
      const passes = known !== undefined && hasTrait(known, "whileSuspended")
      assert.strictEqual(judge(activity, facts({ suspended: true })).passes, passes, type)
      assert.strictEqual(judge(activity, facts({}, { rejectReports: true })).passes, type !== "Flag", type)
    }
  })

  it("F70: an activity with several types is judged by the type that handles it", () => {
    const activity = { type: ["Create", "Undo", "Flag"], object: referring }
    assert.strictEqual(activityTypeOf(activity), "Create")
    assert.isFalse(judge(activity, facts({ suspended: true })).passes)
    assert.isTrue(judge(activity, facts({}, { rejectReports: true })).passes)
  })

  const Anything = Schema.Record(Schema.String, Schema.Json)
  it.prop("row 32: no rule fails on anything that is JSON", { activity: Anything, object: Anything }, (given) => {
    const known = facts({ suspended: false, separated: new Set([""]) }, { rejectMedia: true, rejectReports: true })
    for (const type of types) {
      for (const policy of chain) policy({ ...given.activity, type, object: given.object }, known)
      for (const field of ["to", "cc", "tag", "attachment", "type"]) {
        for (const policy of chain) policy({ type, object: { ...given.object, [field]: given.activity } }, known)
      }
    }
  })
})
