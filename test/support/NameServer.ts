import { Effect } from "effect"
import { createSocket } from "node:dgram"

const types = { 1: "A", 15: "MX", 16: "TXT" } as const

/** Encodes a name as DNS labels. */
const encoded = (name: string) =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0])
  ])

const dataOf = (type: "A" | "MX" | "TXT", value: string) => {
  if (type === "A") return Buffer.from(value.split(".").map(Number))
  if (type === "TXT") return Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  return Buffer.concat([Buffer.from([0, 10]), encoded(value)])
}

/**
 * Starts a name server on its own port with these records (`MX mail.example`); `asked` has the queries that it
 * received. Parents of names with records exist, without records.
 */
export const nameServer = Effect.fnUntraced(function*(records: Readonly<Record<string, string>>) {
  const asked: Array<string> = []
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => createSocket("udp4")),
    (open) => Effect.sync(() => open.close())
  )
  socket.on("message", (message, { address, port }) => {
    const labels: Array<string> = []
    let at = 12
    for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
      labels.push(message.subarray(at + 1, at + 1 + length).toString())
      at += length + 1
    }
    const type = Object.entries(types).find(([code]) => Number(code) === message.readUInt16BE(at + 1))?.[1]
    const question = message.subarray(12, at + 5)
    const key = `${type} ${labels.join(".")}`
    asked.push(key)
    const value = type === undefined ? undefined : records[key]
    const head = Buffer.from(message.subarray(0, 12))
    const exists = value !== undefined || Object.keys(records).some((one) => one.endsWith(`.${labels.join(".")}`))
    head.writeUInt16BE(exists ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(value === undefined ? 0 : 1, 6)
    head.writeUInt32BE(0, 8)
    const response = []
    if (type !== undefined && value !== undefined) {
      const data = dataOf(type, value)
      const record = Buffer.alloc(12)
      record.writeUInt16BE(0xc00c, 0)
      question.copy(record, 2, question.length - 4)
      record.writeUInt32BE(60, 6)
      record.writeUInt16BE(data.length, 10)
      response.push(record, data)
    }
    socket.send(Buffer.concat([head, question, ...response]), port, address)
  })
  yield* Effect.callback<void>((resume) => {
    socket.bind(0, "127.0.0.1", () => resume(Effect.void))
  })
  return { address: `127.0.0.1:${socket.address().port}`, asked }
})
