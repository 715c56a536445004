import { assert, describe, it } from "@effect/vitest"
import {
  AddressRules,
  type ipBlockSeverities,
  isInside,
  networkOf
} from "../../../src/services/moderation/AddressRules.ts"

const rule = (network: string, severity: typeof ipBlockSeverities[number] = "no_access", expiresAt = Infinity) => ({
  network: networkOf(network) ?? "",
  severity,
  expiresAt
})

describe("S-174: address rules", () => {
  it("name a network in one form, however it is written", () => {
    for (
      const [written, network] of [
        ["10.1.2.3", "10.1.2.3/32"],
        ["10.1.2.3/8", "10.0.0.0/8"],
        ["0.0.0.0/0", "0.0.0.0/0"],
        ["::ffff:10.1.2.3", "10.1.2.3/32"],
        ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
        ["2001:DB8:0:0::1/64", "2001:db8::/64"],
        ["::1", "::1/128"],
        // F75: IPv4 behind a translator (RFC 6052) is IPv4.
        ["64:ff9b::10.1.2.3", "10.1.2.3/32"]
      ] as const
    ) assert.strictEqual(networkOf(written), network, written)
    for (
      const text of [
        "",
        "x",
        "10.1.2",
        "10.0.0.0/33",
        "::/129",
        "10.0.0.0/-1",
        "10.0.0.0/8/8",
        "10.0.0.0/ 8",
        "fe80::1%eth0"
      ]
    ) {
      assert.isUndefined(networkOf(text), text)
    }
  })

  it("find the strictest current block, also for IPv4 inside IPv6 and addresses with zones", () => {
    const rules = new AddressRules([
      rule("10.0.0.0/8", "sign_up_requires_approval"),
      rule("10.1.0.0/16", "no_access", 1_000),
      rule("10.1.1.0/24", "sign_up_block"),
      rule("fe80::/10")
    ])
    assert.strictEqual(rules.find("10.1.1.1", 999), "no_access")
    assert.strictEqual(rules.find("10.1.1.1", 1_000), "sign_up_block")
    assert.strictEqual(rules.find("::ffff:10.2.0.1", 0), "sign_up_requires_approval")
    assert.strictEqual(rules.find("fe80::1%eth0", 0), "no_access")
    for (const text of ["11.0.0.1", "unknown", "", "::10.1.1.1", "10.1.1.1:80"]) assert.isUndefined(rules.find(text, 0))
  })

  it("agree with effect's check of each single network", () => {
    let chance = 7
    const next = (below: number) => (chance = (chance * 1_103_515_245 + 12_345) % 2_147_483_648) % below
    const address = () => [next(4), next(4), next(4), next(4)].join(".")
    for (let round = 0; round < 500; round++) {
      const networks = Array.from({ length: next(6) }, () => `${address()}/${next(33)}`)
      const rules = new AddressRules(networks.map((each) => rule(each)))
      const one = address()
      const expected = networks.some((each) => isInside(networkOf(each) ?? "", one))
      assert.strictEqual(rules.find(one, 0) !== undefined, expected, `${one} in ${networks.join(" ")}`)
    }
  })
})
