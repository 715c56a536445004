import { Effect } from "effect"
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto"
import { createServer, type IncomingHttpHeaders } from "node:http"

/* A push service on loopback and its devices, which decrypt pushes by RFC 8291 and its last draft. */

const hkdf = (salt: Uint8Array, key: Uint8Array, info: Uint8Array, bytes: number) =>
  Buffer.from(hkdfSync("sha256", key, salt, info, bytes))
const words = (...parts: ReadonlyArray<string | Uint8Array>) => Buffer.concat(parts.map((part) => Buffer.from(part)))

const decipher = (key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array) => {
  const cipher = createDecipheriv("aes-128-gcm", key, nonce)
  cipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
}

/** Makes the subscription keys of a device and its decryption function. */
const makeDevice = () => {
  const pair = createECDH("prime256v1")
  const own = pair.generateKeys()
  const auth = randomBytes(16)

  const standard = (body: Uint8Array) => {
    const [salt, length] = [body.subarray(0, 16), body[20] ?? 0]
    const server = body.subarray(21, 21 + length)
    const input = hkdf(auth, pair.computeSecret(server), words("WebPush: info\0", own, server), 32)
    const key = hkdf(salt, input, words("Content-Encoding: aes128gcm\0"), 16)
    const nonce = hkdf(salt, input, words("Content-Encoding: nonce\0"), 12)
    const plain = decipher(key, nonce, body.subarray(21 + length))
    return plain.subarray(0, plain.lastIndexOf(2)).toString()
  }
  const draft = (body: Uint8Array, headers: IncomingHttpHeaders) => {
    const parameter = (header: unknown, name: string) =>
      Buffer.from(new RegExp(`(?:^|[;,\\s])${name}=([\\w-]+)`).exec(String(header))?.[1] ?? "", "base64url")
    const [salt, server] = [parameter(headers["encryption"], "salt"), parameter(headers["crypto-key"], "dh")]
    const input = hkdf(auth, pair.computeSecret(server), words("Content-Encoding: auth\0"), 32)
    const sized = (key: Uint8Array) => words(new Uint8Array([0, key.length]), key)
    const context = words("P-256\0", sized(own), sized(server))
    const key = hkdf(salt, input, words("Content-Encoding: aesgcm\0", context), 16)
    const nonce = hkdf(salt, input, words("Content-Encoding: nonce\0", context), 12)
    const plain = decipher(key, nonce, body)
    return plain.subarray(2 + plain.readUInt16BE(0)).toString()
  }
  return {
    keys: { p256dh: own.toString("base64url"), auth: auth.toString("base64url") },
    read: (body: Uint8Array, headers: IncomingHttpHeaders) =>
      headers["content-encoding"] === "aes128gcm" ? standard(body) : draft(body, headers)
  }
}

/** Returns the claims of a request's signature if it verifies with the app's key. */
const claimsOf = (headers: IncomingHttpHeaders, serverKey: string): Record<string, unknown> => {
  const authorization = headers["authorization"] ?? ""
  const token = /^(?:vapid t=|WebPush )([\w.-]+)/.exec(authorization)?.[1] ?? ""
  const named = /k=([\w-]+)/.exec(authorization)?.[1] ?? /p256ecdsa=([\w-]+)/.exec(String(headers["crypto-key"]))?.[1]
  if (named !== serverKey) throw new Error("signed with another key")
  const point = Buffer.from(serverKey, "base64url")
  const key = createPublicKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url")
    }
  })
  const [head = "", claims = "", signature = ""] = token.split(".")
  const signed = Buffer.from(`${head}.${claims}`)
  if (!verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"))) {
    throw new Error("a signature does not hold")
  }
  return JSON.parse(Buffer.from(claims, "base64url").toString())
}

/** A push that a device received. */
export interface ReceivedPush {
  // Tests read messages of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly message: any
  /** Size when encrypted, and the decrypted text. */
  readonly bytes: number
  readonly text: string
  readonly headers: IncomingHttpHeaders
  readonly claims: Record<string, unknown>
}

/** Starts a push service that responds with `status`. Devices are at `/<name>`. */
export const pushService = Effect.fnUntraced(function*(address = "127.0.0.1") {
  const state = { status: 201, headers: {} as Record<string, string> }
  const devices = new Map<
    string,
    { readonly device: ReturnType<typeof makeDevice>; readonly told: Array<ReceivedPush> }
  >()
  const requests: Array<string> = []
  let serverKey = ""
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      const path = request.url ?? ""
      requests.push(path)
      const found = devices.get(path.slice(1))
      if (found === undefined) return response.writeHead(404).end()
      if (state.status >= 300) return response.writeHead(state.status, state.headers).end()
      try {
        const body = Buffer.concat(chunks)
        const text = found.device.read(body, request.headers)
        const claims = claimsOf(request.headers, serverKey)
        found.told.push({ message: JSON.parse(text), bytes: body.length, text, headers: request.headers, claims })
        response.writeHead(state.status).end()
      } catch (error) {
        response.writeHead(400).end(String(error))
      }
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, address, resolve))),
    () => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )
  const bound = server.address()
  const origin = `http://${address}:${typeof bound === "object" && bound !== null ? bound.port : 0}`
  return {
    origin,
    state,
    requests,
    /** Registers a device for pushes signed with the server's key. */
    device: (name: string, key: string) => {
      serverKey = key
      const device = makeDevice()
      const told: Array<ReceivedPush> = []
      devices.set(name, { device, told })
      return { endpoint: `${origin}/${name}`, keys: device.keys, told }
    }
  }
})
