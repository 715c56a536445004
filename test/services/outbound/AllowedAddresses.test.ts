import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { IpNetwork } from "effect/net"
import { mayConnect } from "../../../src/services/outbound/AllowedAddresses.ts"
import { destination } from "../../../src/services/outbound/Destinations.ts"

const refused = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.0",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "100.127.255.255",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.0.170",
  "192.0.2.1",
  "192.31.196.1",
  "192.52.193.1",
  "192.88.99.1",
  "192.168.0.1",
  "192.168.255.255",
  "192.175.48.1",
  "198.18.0.1",
  "198.19.255.255",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.255.255.250",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::10.0.0.1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:7f00:1",
  "::ffff:169.254.169.254",
  "::ffff:0:127.0.0.1",
  "64:ff9b::127.0.0.1",
  "64:ff9b::a00:1",
  "64:ff9b::192.168.0.1",
  "64:ff9b:1::1",
  "64:ff9b:1::808:808",
  "100::1",
  "100:0:0:1::1",
  "2001::1",
  "2001:0:4136:e378:8000:63bf:3fff:fdd2",
  "2001:2::1",
  "2001:10::1",
  "2001:1f:ffff::1",
  "2001:20::1",
  "2001:2f::1",
  "2001:db8::1",
  "2001:db8:ffff::1",
  "2002::1",
  "2002:7f00:1::1",
  "2002:808:808::1",
  "2620:4f:8000::1",
  "3fff::1",
  "3fff:fff::1",
  "4000::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fdff::1",
  "fe80::1",
  "fe80::1%lo",
  "febf::1",
  "fec0::1",
  "ff02::1",
  "ff0e::1",
  "localhost",
  "",
  "8.8.8.8.8"
]

const permitted = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "126.255.255.255",
  "128.0.0.1",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.1",
  "192.0.1.1",
  "192.167.255.255",
  "192.169.0.1",
  "198.17.255.255",
  "198.20.0.1",
  "223.255.255.255",
  "::ffff:8.8.8.8",
  "64:ff9b::8.8.8.8",
  "2001:200::1",
  "2001:4860:4860::8888",
  "2003::1",
  "2606:4700::1111",
  "2a00:1450::1",
  "3ffe::1"
]

/** Returns the host of a URL as used for the connection, or the rule that refuses it. */
const hostOf = (url: string) =>
  Result.match(destination([], url), {
    onSuccess: ({ hostname }) => hostname.replaceAll(/^\[|\]$/g, ""),
    onFailure: ({ rule }) => rule
  })

describe("row 26: reserved addresses", () => {
  for (const address of refused) {
    it(`refuses ${address === "" ? "nothing" : address}`, () => assert.isFalse(mayConnect([], address, true)))
  }
  for (const address of permitted) {
    it(`connects to ${address}`, () => assert.isTrue(mayConnect([], address, true)))
  }

  for (
    const literal of [
      "0x7f000001",
      "0x7f.1",
      "0177.0.0.1",
      "2130706433",
      "127.1",
      "127.0.1",
      "017700000001",
      "127.0.0.1.",
      "0",
      "[::ffff:7f00:1]",
      "[::ffff:127.0.0.1]",
      "[0:0:0:0:0:0:0:1]",
      "１２７.0.0.1",
      "127。0。0。1",
      "0xa9fea9fe"
    ]
  ) {
    it(`recognises the address in https://${literal}/`, () =>
      assert.isFalse(mayConnect([], hostOf(`https://${literal}/`), true)))
  }

  for (const name of ["localhost.", "example.org.", "example.org%2e"]) {
    it(`refuses the host ${name}`, () => assert.strictEqual(hostOf(`https://${name}/`), "host"))
  }
})

describe("row 25: OUTBOUND_ALLOW lifts the rule for its networks only", () => {
  const allowed = [IpNetwork.fromStringUnsafe("127.0.0.0/8"), IpNetwork.fromStringUnsafe("fd00::/8")]
  it("allows internal addresses, with and without TLS", () => {
    for (const address of ["127.0.0.1", "127.9.9.9", "fd00::1", "::ffff:127.0.0.1"]) {
      assert.isTrue(mayConnect(allowed, address, false), address)
      assert.isTrue(mayConnect(allowed, address, true), address)
    }
  })
  it("allows nothing else, and public addresses with TLS only", () => {
    for (const address of ["10.0.0.1", "::1", "169.254.169.254", "fe80::1"]) {
      assert.isFalse(mayConnect(allowed, address, true), address)
      assert.isFalse(mayConnect(allowed, address, false), address)
    }
    assert.isTrue(mayConnect(allowed, "8.8.8.8", true))
    assert.isFalse(mayConnect(allowed, "8.8.8.8", false))
  })
})
