import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { hash } from "node:crypto"
import {
  AdminCanonicalEmailBlock,
  AdminDomainAllow,
  AdminDomainBlock,
  AdminEmailDomainBlock,
  AdminUsernameBlock
} from "../../../../src/http/staff/wire/AdminBlocks.ts"
import { ask } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const strict = { onExcessProperty: "error" } as const
const root = "/api/v1/admin"
const notFound = [404, { error: "Record not found" }]
const told = ({ body, status }: { readonly status: number; readonly body: unknown }) => [status, body]
const failed = (text: string) => [422, { error: `Validation failed: ${text}` }]

layer(TestServer.layer(), { excludeTestServices: true })("blocks in the API", (it) => {
  it.effect("S-099 S-168 S-169 S-274 S-277: domain blocks conflict with equally strict ones, change and end", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("federator", ["manageFederation"])
      const path = `${root}/domain_blocks`
      const created = yield* ask(staff, "POST", path, {
        domain: "Spam.Example",
        private_comment: "a",
        public_comment: "b",
        obfuscate: true
      })
      assert.strictEqual(created.status, 200)
      const block = yield* Schema.decodeUnknownEffect(AdminDomainBlock)(created.body, strict)
      assert.deepInclude(block, {
        domain: "spam.example",
        digest: hash("sha256", "spam.example"),
        severity: "silence",
        reject_media: false,
        reject_reports: false,
        private_comment: "a",
        public_comment: "b",
        obfuscate: true
      })
      const conflict = (domain: string, existing: unknown) => [
        422,
        { error: `You have already imposed stricter limits on ${domain}.`, existing_domain_block: existing }
      ]
      // An equal domain at any severity; a subdomain that is no stricter.
      for (
        const wish of [{ domain: "spam.example", severity: "suspend" }, {
          domain: "a.spam.example",
          severity: "noop",
          reject_media: true
        }]
      ) assert.deepStrictEqual(told(yield* ask(staff, "POST", path, wish)), conflict("spam.example", block))
      const below = yield* ask(staff, "POST", path, { domain: "b.spam.example", severity: "suspend" })
      assert.deepStrictEqual([below.status, below.body.severity], [200, "suspend"])
      const more = yield* ask(staff, "POST", path, { domain: "c.spam.example", reject_media: true })
      assert.deepStrictEqual([more.status, more.body.severity], [200, "silence"])
      for (
        const [wish, text] of [
          [{}, "Domain can't be blank"],
          [{ domain: "  " }, "Domain can't be blank"],
          [{ domain: "not a domain" }, "Domain is not a valid domain name"],
          [{ domain: "x.example", severity: "kill" }, "Severity is not included in the list"],
          [
            { domain: "x.example", private_comment: "x".repeat(5_001) },
            "Private comment is too long (maximum is 5000 characters)"
          ]
        ] as const
      ) assert.deepStrictEqual(told(yield* ask(staff, "POST", path, wish)), failed(text))
      const changed = yield* ask(staff, "PUT", `${path}/${block.id}`, {
        severity: "suspend",
        public_comment: null,
        domain: "other.example"
      })
      assert.deepStrictEqual(changed.body, { ...block, severity: "suspend", public_comment: null })
      assert.deepStrictEqual((yield* ask(staff, "GET", `${path}/${block.id}`)).body, changed.body)
      const page = yield* ask(staff, "GET", `${path}?limit=2`)
      assert.deepStrictEqual(page.body.map(({ domain }: AdminDomainBlock) => domain), [
        "c.spam.example",
        "b.spam.example"
      ])
      assert.include(page.headers.get("link") ?? "", `max_id=${below.body.id}`)
      assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${block.id}`)), [200, {}])
      for (const method of ["GET", "DELETE"]) {
        assert.deepStrictEqual(told(yield* ask(staff, method, `${path}/${block.id}`)), notFound)
      }
      const log = (yield* auditEntries(staff.accountId)).filter(({ targetLabel }) => targetLabel === "spam.example")
      assert.deepStrictEqual(log.map(({ act }) => act), [
        "domain_block destroy",
        "domain_block update",
        "domain_block create"
      ])
      assert.deepInclude(log[1]!.before, { severity: "silence", publicComment: "b" })
      assert.deepInclude(log[1]!.after, { severity: "suspend", publicComment: null })
    }))

  it.effect("S-168: of two concurrent blocks of a domain one wins, and the other gets the existing one", () =>
    Effect.gen(function*() {
      const staff = [yield* staffMember("fast", ["manageFederation"]), yield* staffMember("slow", ["manageFederation"])]
      const responses = yield* Effect.forEach(
        [...staff, ...staff, ...staff, ...staff],
        (by) => ask(by, "POST", `${root}/domain_blocks`, { domain: "race.example", severity: "suspend" }),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [
        200,
        ...Array.from({ length: 7 }, () => 422)
      ])
      const created = responses.find(({ status }) => status === 200)!
      for (const { body, status } of responses) {
        if (status === 422) assert.deepStrictEqual(body.existing_domain_block, created.body)
      }
      const logged = [...yield* auditEntries(staff[0]!.accountId), ...yield* auditEntries(staff[1]!.accountId)]
      assert.deepStrictEqual(logged.map(({ act }) => act), ["domain_block create"])
    }))

  it.effect("S-170 S-171 S-275: allowing an allowed domain again returns the existing entry", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("allower", ["manageFederation"])
      const path = `${root}/domain_allows`
      const { body: created } = yield* ask(staff, "POST", path, { domain: "Friend.Example" })
      yield* Schema.decodeUnknownEffect(AdminDomainAllow)(created, strict)
      assert.strictEqual(created.domain, "friend.example")
      assert.deepStrictEqual(told(yield* ask(staff, "POST", path, { domain: "friend.example" })), [200, created])
      assert.deepStrictEqual(told(yield* ask(staff, "POST", path, {})), failed("Domain can't be blank"))
      assert.deepStrictEqual(told(yield* ask(staff, "POST", path, { domain: "" })), failed("Domain can't be blank"))
      assert.deepStrictEqual((yield* ask(staff, "GET", `${path}/${created.id}`)).body, created)
      assert.deepStrictEqual((yield* ask(staff, "GET", path)).body, [created])
      assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${created.id}`)), [200, {}])
      assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${created.id}`)), notFound)
      assert.deepStrictEqual((yield* auditEntries(staff.accountId)).map(({ act }) => act), [
        "domain_allow destroy",
        "domain_allow create"
      ])
    }))

  it.effect("S-173: domains of e-mail addresses", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("mailer", ["manageBlocks"])
      const path = `${root}/email_domain_blocks`
      const { body: created } = yield* ask(staff, "POST", path, {
        domain: "Throwaway.Example",
        allow_with_approval: "true",
        other_domains: ["mx.throwaway.example", "192.0.2.25"]
      })
      yield* Schema.decodeUnknownEffect(AdminEmailDomainBlock)(created, strict)
      assert.deepInclude(created, { domain: "throwaway.example", allow_with_approval: true })
      assert.strictEqual(created.history.length, 7)
      assert.deepStrictEqual(
        (yield* ask(staff, "GET", path)).body.map(({ domain }: AdminEmailDomainBlock) => domain),
        ["192.0.2.25", "mx.throwaway.example", "throwaway.example"]
      )
      assert.deepStrictEqual(
        told(yield* ask(staff, "POST", path, { domain: "throwaway.example" })),
        failed("Domain has already been taken")
      )
      assert.deepStrictEqual(told(yield* ask(staff, "POST", path, {})), failed("Domain can't be blank"))
      assert.deepStrictEqual((yield* ask(staff, "GET", `${path}/${created.id}`)).body, created)
      assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${created.id}`)), [200, {}])
      assert.deepStrictEqual(told(yield* ask(staff, "GET", `${path}/${created.id}`)), notFound)
    }))

  it.effect("S-172: e-mail addresses in any spelling, by address or by digest", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("canon", ["manageBlocks"])
      const path = `${root}/canonical_email_blocks`
      const { body: created } = yield* ask(staff, "POST", path, { email: "Some.Body+news@Mail.Example" })
      yield* Schema.decodeUnknownEffect(AdminCanonicalEmailBlock)(created, strict)
      assert.strictEqual(created.canonical_email_hash, hash("sha256", "somebody@mail.example"))
      const other = hash("sha256", "other@mail.example")
      const { body: second } = yield* ask(staff, "POST", path, { canonical_email_hash: other })
      assert.strictEqual(second.canonical_email_hash, other)
      const test = (email: string) => Effect.map(ask(staff, "POST", `${path}/test`, { email }), ({ body }) => body)
      assert.deepStrictEqual(yield* test("SOMEBODY@mail.example"), [created])
      assert.deepStrictEqual(yield* test("somebody@mail2.example"), [])
      assert.deepStrictEqual(told(yield* ask(staff, "POST", `${path}/test`, {})), [400, {
        error: "param is missing or the value is empty or invalid: email"
      }])
      assert.deepStrictEqual(
        told(yield* ask(staff, "POST", path, { canonical_email_hash: other })),
        failed("Canonical email hash has already been taken")
      )
      assert.deepStrictEqual((yield* ask(staff, "GET", path)).body, [second, created])
      assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${created.id}`)), [200, {}])
      assert.deepStrictEqual(yield* test("somebody@mail.example"), [])
    }))

  it.effect("username blocks: exact or as a part, including look-alikes", () =>
    Effect.gen(function*() {
      const staff = yield* staffMember("namer", ["manageBlocks"])
      const path = `${root}/username_blocks`
      const { body: created } = yield* ask(staff, "POST", path, { username: "Bank", exact: false })
      yield* Schema.decodeUnknownEffect(AdminUsernameBlock)(created, strict)
      assert.deepInclude(created, { username: "Bank", exact: false, allow_with_approval: false })
      assert.deepStrictEqual(
        told(yield* ask(staff, "POST", path, { username: "b4nk" })),
        failed("Username has already been taken")
      )
      assert.deepStrictEqual(
        told(yield* ask(staff, "POST", path, { username: "__" })),
        failed("Username can't be blank")
      )
      const { body: changed } = yield* ask(staff, "PATCH", `${path}/${created.id}`, { allow_with_approval: true })
      assert.deepInclude(changed, { username: "Bank", exact: false, allow_with_approval: true })
      assert.deepStrictEqual((yield* ask(staff, "GET", path)).body, [changed])
      assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${created.id}`)), [200, {}])
      assert.deepStrictEqual((yield* auditEntries(staff.accountId)).map(({ act }) => act), [
        "username_block destroy",
        "username_block update",
        "username_block create"
      ])
    }))
})
