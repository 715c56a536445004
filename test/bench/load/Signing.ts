import { Agent } from "@effect/platform-node/Undici"
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

/*
 * Process that only signs requests and sends them on keep-alive connections: the lower bound of a server's cost per
 * delivery.
 */

export interface Order {
  readonly urls: ReadonlyArray<string>
  /** Size of each body, in bytes. */
  readonly bytes: number
  /** Concurrent requests per host. */
  readonly width: number
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 })
const agent = new Agent({ connections: 8, pipelining: 1 })

const signed = (key: KeyObject, text: string) =>
  new Promise<string>((resolve, reject) => {
    sign("sha256", Buffer.from(text), key, (error, signature) =>
      error === null ? resolve(signature.toString("base64")) : reject(error))
  })

const deliver = async (address: string, body: Buffer) => {
  const url = new URL(address)
  const date = new Date().toUTCString()
  const digest = `SHA-256=${createHash("sha256").update(body).digest("base64")}`
  const signature = await signed(
    privateKey,
    `(request-target): post ${url.pathname}\nhost: ${url.host}\ndate: ${date}\ndigest: ${digest}`
  )
  const { body: reply, statusCode } = await agent.request({
    origin: url.origin,
    path: url.pathname,
    method: "POST",
    headers: {
      date,
      digest,
      "content-type": "application/activity+json",
      signature: `keyId="k",signature="${signature}"`
    },
    body
  })
  await reply.dump()
  if (statusCode !== 202) throw new Error(`The response to a delivery is ${statusCode}`)
}

const handle = async ({ bytes, urls, width }: Order) => {
  const body = Buffer.alloc(bytes, "x")
  const byHost = Map.groupBy(urls, (url) => new URL(url).host)
  await Promise.all([...byHost.values()].flatMap((inboxes) => {
    const waiting = inboxes.values()
    return Array.from({ length: width }, async () => {
      for (const url of waiting) await deliver(url, body)
    })
  }))
}

process.on("message", (order: Order) => {
  void handle(order).then(() => process.send?.({ reply: null }), (error) => process.send?.({ error: String(error) }))
})
process.on("disconnect", () => process.exit(0))
