import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"

/* A software authenticator (WebAuthn Level 3): one ES256 passkey, without attestation. */

const url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest()

/** Encodes a CBOR byte string or text of less than 65,536 bytes. */
const cbor = (major: number, bytes: Uint8Array) =>
  Buffer.concat([
    bytes.length < 24
      ? Buffer.from([(major << 5) | bytes.length])
      : bytes.length < 256
      ? Buffer.from([(major << 5) | 24, bytes.length])
      : Buffer.from([(major << 5) | 25, bytes.length >> 8, bytes.length & 255]),
    bytes
  ])
const text = (value: string) => cbor(3, Buffer.from(value))

/** Input of an authenticator; a test changes one of its fields to forge a response. */
interface Ceremony {
  readonly challenge: string
  readonly origin?: string
  readonly rpId?: string
  readonly verified?: boolean
  readonly counter?: number
  readonly type?: string
  readonly userHandle?: string | null
}

export const make = (defaults: { readonly origin: string; readonly rpId: string }) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x = "", y = "" } = publicKey.export({ format: "jwk" })
  const credentialId = randomBytes(32)
  let count = 0
  const coseKey = Buffer.concat([
    // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]),
    cbor(2, Buffer.from(x, "base64url")),
    Buffer.from([0x22]),
    cbor(2, Buffer.from(y, "base64url"))
  ])
  const head = ({ counter, rpId = defaults.rpId, verified = true }: Ceremony, attested: boolean) => {
    const number = Buffer.alloc(4)
    number.writeUInt32BE(counter ?? ++count)
    return Buffer.concat([sha256(rpId), Buffer.from([1 | (verified ? 4 : 0) | (attested ? 64 : 0)]), number])
  }
  const client = ({ challenge, origin = defaults.origin }: Ceremony, type: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const wrap = (response: object) =>
    JSON.stringify({ id: url(credentialId), rawId: url(credentialId), type: "public-key", response })

  return {
    register: (ceremony: Ceremony) => {
      const authData = Buffer.concat([
        head(ceremony, true),
        Buffer.alloc(16),
        Buffer.from([0, credentialId.length]),
        credentialId,
        coseKey
      ])
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        text("fmt"),
        text("none"),
        text("attStmt"),
        Buffer.from([0xa0]),
        text("authData"),
        cbor(2, authData)
      ])
      const clientData = client(ceremony, ceremony.type ?? "webauthn.create")
      return wrap({ clientDataJSON: url(clientData), attestationObject: url(attestation), transports: ["internal"] })
    },
    credential: (ceremony: Ceremony) => {
      const authData = head(ceremony, false)
      const clientData = client(ceremony, ceremony.type ?? "webauthn.get")
      const signature = sign("sha256", Buffer.concat([authData, sha256(clientData)]), privateKey)
      return wrap({
        clientDataJSON: url(clientData),
        authenticatorData: url(authData),
        signature: url(signature),
        userHandle: ceremony.userHandle ?? null
      })
    }
  }
}

const unescape = (value: string) => value.replaceAll("&quot;", "\"").replaceAll("&amp;", "&")

/** Returns the WebAuthn options on a page. */
export const optionsOn = ({ text: page }: { readonly text: string }): {
  readonly challenge: string
  readonly user?: { readonly id: string }
  readonly rpId?: string
} => JSON.parse(unescape(/data-options="([^"]*)"/.exec(page)?.[1] ?? "{}"))
