import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { hostsOf } from "../../../../src/services/federation/domains/DomainAccounts.ts"
import {
  type DomainBlock,
  namesOf,
  policyOf,
  policyOfAll,
  type Severity
} from "../../../../src/services/federation/domains/DomainPolicy.ts"
import { obfuscated } from "../../../../src/services/federation/domains/PublishedBlocks.ts"

const block = (domain: string, severity: Severity, more: Partial<DomainBlock> = {}): readonly [string, DomainBlock] => [
  domain,
  { domain, severity, rejectMedia: false, rejectReports: false, ...more }
]
const rules = (blocks: ReadonlyArray<readonly [string, DomainBlock]>, allows: ReadonlyArray<string> = []) => ({
  blocks: new Map(blocks),
  allows: new Set(allows),
  limited: allows.length > 0
})

describe("rules about domains", () => {
  it("a block applies to the domain on any port, and its subdomains, and nothing else", () => {
    const known = rules([block("evil.example", "suspend"), block("127.0.0.1:3001", "silence")])
    for (const host of ["evil.example", "a.evil.example", "a.b.evil.example", "evil.example:8443"]) {
      assert.isFalse(policyOf(known, host).allowed, host)
    }
    for (const host of ["example", "notevil.example", "evil.example.org", "evil-example", "127.0.0.1"]) {
      assert.deepInclude(policyOf(known, host), { allowed: true, severity: "noop" }, host)
    }
    assert.strictEqual(policyOf(known, "127.0.0.1:3001").severity, "silence")
    assert.strictEqual(policyOf(known, "127.0.0.1:3002").severity, "noop")
  })

  it("the strictest of several blocks applies, for each part", () => {
    const known = rules([
      block("example.org", "suspend"),
      block("a.example.org", "noop"),
      block("example.net", "silence", { rejectMedia: true }),
      block("a.example.net", "noop", { rejectReports: true })
    ])
    assert.isFalse(policyOf(known, "a.example.org").allowed)
    assert.deepStrictEqual(policyOf(known, "b.a.example.net"), {
      severity: "silence",
      rejectMedia: true,
      rejectReports: true,
      allowed: true
    })
    const split = hostsOf({ domain: "free.example", uri: "https://social.example.org/users/1" })
    assert.isFalse(policyOfAll(known, split).allowed)
  })

  it("S-024: in limited federation only exactly listed domains are allowed, unless they are blocked", () => {
    const known = rules([block("bad.example", "suspend")], ["good.example", "bad.example"])
    const allowed = (host: string) => policyOf(known, host).allowed
    assert.isTrue(allowed("good.example"))
    for (const host of ["a.good.example", "bad.example", "other.example", "good.example:444"]) {
      assert.isFalse(allowed(host), host)
    }
  })

  const Name = Schema.Array(Schema.Literals(["a", "b", "c"])).check(Schema.isBetweenLength(2, 4))
  const Severities = Schema.Literals(["noop", "silence", "suspend"])
  const Given = Schema.Array(Schema.Struct({ name: Name, severity: Severities })).check(Schema.isMaxLength(6))
  it.prop("an additional rule never allows more", { given: Given, more: Name, host: Name }, ({ given, host, more }) => {
    const [asked, added] = [host.join("."), more.join(".")]
    const known = given.map(({ name, severity }) => block(name.join("."), severity))
    const before = policyOf(rules(known), asked).allowed
    const after = policyOf(rules([...known, block(added, "suspend")]), asked).allowed
    assert.strictEqual(after, before && asked !== added && !asked.endsWith(`.${added}`))
    assert.include(namesOf(asked), asked)
  })

  it("an obfuscated domain keeps its ends and its dots", () => {
    assert.strictEqual(obfuscated("very.evil.example"), "very.****.***mple")
  })
})
