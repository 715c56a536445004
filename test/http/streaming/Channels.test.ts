import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { channelOf, nameAtPath, StreamRefused } from "../../../src/http/streaming/Channels.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"

const asking = (...scopes: ReadonlyArray<string>) => ({ accountId: AccountId.make(7n), scopes: new Set(scopes) })
const channel = (name: string, parameters = {}, ...scopes: ReadonlyArray<string>) =>
  Result.match(channelOf(name, parameters, asking(...(scopes.length === 0 ? ["read"] : scopes))), {
    onSuccess: ({ label, topic }) => `${topic} ${label}`,
    onFailure: ({ message, status }) => `${status} ${message}`
  })

describe("Channels", () => {
  it("S-007: are published under one topic for all listeners with the same content", () => {
    assert.strictEqual(channel("user"), `user/7 ["user"]`)
    assert.strictEqual(channel("user:notification"), `user:notification/7 ["user:notification"]`)
    assert.strictEqual(channel("direct"), `direct/7 ["direct"]`)
    for (
      const name of [
        "public",
        "public:media",
        "public:local",
        "public:local:media",
        "public:remote",
        "public:remote:media"
      ]
    ) {
      assert.strictEqual(channel(name), `${name} ["${name}"]`)
    }
    assert.strictEqual(channel("hashtag", { tag: "Ünï_Cödé ！" }), `hashtag:uni_code ["hashtag","Ünï_Cödé ！"]`)
    assert.strictEqual(channel("list", { list: "012" }), `list:12 ["list","012"]`)
    assert.strictEqual(channel("hashtag:local", { tag: "Cats" }), `hashtag:local:cats ["hashtag:local","Cats"]`)
  })

  it("S-260: are refused with Mastodon's messages", () => {
    assert.strictEqual(channel("nonsense"), "400 Unknown stream type")
    assert.strictEqual(channel("constructor"), "400 Unknown stream type")
    assert.strictEqual(channel("hashtag"), "400 Missing tag name parameter")
    assert.strictEqual(channel("hashtag:local", { tag: "!?" }), "400 Missing tag name parameter")
    assert.strictEqual(channel("list"), "400 Missing list name parameter")
    assert.strictEqual(channel("list", { list: "x" }), "401 Not authorized to stream this list")
    assert.strictEqual(channel("list", { list: "99999999999999999999" }), "401 Not authorized to stream this list")
  })

  it("F11: accept only hashtags that a post can have", () => {
    assert.strictEqual(channel("hashtag", { tag: "a".repeat(16_000) }), "400 Missing tag name parameter")
    assert.strictEqual(channel("hashtag:local", { tag: " ".repeat(16_000) + "cats" }), "400 Missing tag name parameter")
  })

  it("row 69: require one scope each", () => {
    const refused = "401 Access token does not have the required scopes"
    const names = [
      "user",
      "public",
      "public:media",
      "public:local",
      "public:local:media",
      "public:remote",
      "public:remote:media",
      "hashtag",
      "hashtag:local",
      "list",
      "direct"
    ]
    const parameters = { tag: "x", list: "1" }
    for (const name of names) {
      assert.notStrictEqual(channel(name, parameters, "read"), refused)
      assert.notStrictEqual(channel(name, parameters, "read:statuses"), refused)
      for (
        const scope of [
          "read:notifications",
          "read:accounts",
          "write",
          "write:statuses",
          "follow",
          "push",
          "admin:read"
        ]
      ) {
        assert.strictEqual(channel(name, parameters, scope), refused, `${name} with ${scope}`)
      }
    }
    assert.strictEqual(
      channel("user:notification", {}, "read:notifications"),
      `user:notification/7 ["user:notification"]`
    )
    assert.strictEqual(channel("user:notification", {}, "read:statuses"), refused)
    assert.strictEqual(channel("nonsense", {}, "write"), refused)
  })

  it("S-007: have paths, and public ones may be narrowed to media", () => {
    const at = (path: string, onlyMedia = false) =>
      Result.getOrElse(nameAtPath(path, onlyMedia), ({ message }) => message)
    assert.strictEqual(at("user"), "user")
    assert.strictEqual(at("user", true), "user")
    assert.strictEqual(at("user/notification"), "user:notification")
    assert.strictEqual(at("public/remote"), "public:remote")
    assert.strictEqual(at("public", true), "public:media")
    assert.strictEqual(at("public/local", true), "public:local:media")
    assert.strictEqual(at("public/remote", true), "public:remote:media")
    assert.strictEqual(at("hashtag/local"), "hashtag:local")
    assert.strictEqual(at("public:media"), "Unknown channel requested")
    assert.instanceOf(Result.getOrThrow(Result.flip(nameAtPath("", false))), StreamRefused)
  })
})
