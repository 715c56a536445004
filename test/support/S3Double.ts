import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { authenticate, keys, Refused } from "./S3Authentication.ts"

export const bucket = "files"

/** Minimum size of every part but the last, in bytes, and number of objects per list page. */
const partBytesMin = 5 * 1_048_576
const pageMax = 3

interface Stored {
  readonly body: Buffer
  readonly tag: string
  readonly headers: Readonly<Record<string, string>>
}
interface Begun {
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
  readonly parts: Map<number, Omit<Stored, "headers">>
}

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
const xml = (text: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${text}`
const tagOf = (body: Buffer) => `"${createHash("md5").update(body).digest("hex")}"`
const keptHeaders = ["content-type", "content-disposition", "cache-control", "x-amz-acl"]

const headersOf = (request: IncomingMessage) =>
  Object.fromEntries(keptHeaders.flatMap((name) => {
    const value = request.headers[name]
    return value === undefined ? [] : [[name, String(value)]]
  }))

/**
 * Fault of the next request, decided before it is read: a response with that status, a broken connection, or a
 * connection that breaks after the work is done.
 */
export type Fault = number | "break" | "lose"

/**
 * A loopback server for the part of S3 that files need. It refuses what S3 refuses: wrong signatures or unsigned
 * headers, bodies that differ from the signed ones, parts that are too small, out of order or unknown.
 */
export const s3Double = Effect.acquireRelease(
  Effect.promise(async () => {
    const objects = new Map<string, Stored>()
    const uploads = new Map<string, Begun>()
    /** Method and path of each request; `COPY` for a PUT that copies another object. */
    const requests: Array<string> = []
    const faults: Array<{ readonly when: (line: string) => boolean; readonly fault: Fault }> = []
    let [count, inMemory, inMemoryMax] = [0, 0, 0]

    const sendObject = (request: IncomingMessage, response: ServerResponse, { body, headers, tag }: Stored) => {
      const all = { ...headers, etag: tag, "accept-ranges": "bytes" }
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? []
      if (from !== undefined && Number(from) >= body.length) throw new Refused(416, "InvalidRange")
      const part = from === undefined ? body : body.subarray(Number(from), Number(to) + 1)
      const range = from === undefined ? {} : { "content-range": `bytes ${from}-${to}/${body.length}` }
      response.writeHead(from === undefined ? 200 : 206, { ...all, ...range, "content-length": part.length })
      response.end(request.method === "HEAD" ? undefined : part)
    }

    const complete = (uploadId: string, key: string, body: Buffer) => {
      const begun = uploads.get(uploadId)
      if (begun?.key !== key) throw new Refused(404, "NoSuchUpload")
      const named = [...body.toString().matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>([^<]+)<\/ETag><\/Part>/g)]
      if (named.length === 0) throw new Refused(400, "MalformedXML")
      const parts = named.map(([, number, tag], index) => {
        const part = begun.parts.get(Number(number))
        if (part === undefined || part.tag !== tag) throw new Refused(400, "InvalidPart")
        if (Number(number) !== index + 1) throw new Refused(400, "InvalidPartOrder")
        if (index < named.length - 1 && part.body.length < partBytesMin) throw new Refused(400, "EntityTooSmall")
        return part
      })
      uploads.delete(uploadId)
      objects.set(key, {
        body: Buffer.concat(parts.map(({ body }) => body)),
        // Hash of the parts' hashes, as S3's own ETag.
        tag: tagOf(Buffer.from(parts.map(({ tag }) => tag).join(""))),
        headers: begun.headers
      })
    }

    const reply = (request: IncomingMessage, response: ServerResponse, body: Buffer) => {
      authenticate(request, body)
      const url = new URL(request.url ?? "", "http://localhost")
      const [, name, ...rest] = url.pathname.split("/")
      if (name !== bucket) throw new Refused(404, "NoSuchBucket")
      const key = rest.map(decodeURIComponent).join("/")
      const { searchParams: query } = url
      const send = (status: number, text = "", headers = {}) => {
        response.writeHead(status, text === "" ? headers : { "content-type": "application/xml", ...headers })
        response.end(text === "" ? undefined : xml(text))
      }
      const uploadId = query.get("uploadId")
      if (key === "" && query.get("list-type") === "2") {
        const names = [...objects.keys()].filter((one) => one.startsWith(query.get("prefix") ?? "")).sort()
        const from = Number(query.get("continuation-token") ?? "0")
        const contents = names.slice(from, from + pageMax).map((one) =>
          `<Contents><Key>${escape(one)}</Key><Size>${
            objects.get(one)!.body.length
          }</Size><Owner><ID>o</ID></Owner></Contents>`
        )
        const more = from + pageMax < names.length
        const next = more ? `<NextContinuationToken>${from + pageMax}</NextContinuationToken>` : ""
        return send(
          200,
          `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name>` +
            `<IsTruncated>${more}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`
        )
      }
      if (key === "" && query.has("uploads")) {
        const prefix = query.get("prefix") ?? ""
        const found = [...uploads].filter(([, { key }]) => key.startsWith(prefix)).map(([id, { key }]) =>
          `<Upload><Key>${escape(key)}</Key><UploadId>${escape(id)}</UploadId></Upload>`
        )
        return send(200, `<ListMultipartUploadsResult>${found.join("")}</ListMultipartUploadsResult>`)
      }
      if (key === "") throw new Refused(405, "MethodNotAllowed")
      switch (request.method) {
        case "POST": {
          if (uploadId !== null) {
            complete(uploadId, key, body)
            return send(200, `<CompleteMultipartUploadResult><Key>${escape(key)}</Key></CompleteMultipartUploadResult>`)
          }
          if (!query.has("uploads")) throw new Refused(400, "InvalidRequest")
          const id = `upload ${++count}+/=&`
          uploads.set(id, { key, headers: headersOf(request), parts: new Map() })
          return send(
            200,
            `<InitiateMultipartUploadResult><UploadId>${escape(id)}</UploadId></InitiateMultipartUploadResult>`
          )
        }
        case "PUT": {
          if (request.headers["content-length"] === undefined) throw new Refused(411, "MissingContentLength")
          const source = request.headers["x-amz-copy-source"]
          if (source !== undefined) {
            const found = objects.get(decodeURIComponent(String(source)).slice(`/${bucket}/`.length))
            if (found === undefined) throw new Refused(404, "NoSuchKey")
            if (found.headers["x-amz-acl"] === "secret") throw new Refused(403, "AccessDenied")
            const keeps = request.headers["x-amz-metadata-directive"] !== "REPLACE"
            objects.set(key, { ...found, headers: keeps ? found.headers : headersOf(request) })
            return send(200, `<CopyObjectResult><ETag>${escape(found.tag)}</ETag></CopyObjectResult>`)
          }
          const tag = tagOf(body)
          if (uploadId === null) {
            objects.set(key, { body, tag, headers: headersOf(request) })
            return send(200, "", { etag: tag })
          }
          const begun = uploads.get(uploadId)
          if (begun?.key !== key) throw new Refused(404, "NoSuchUpload")
          begun.parts.set(Number(query.get("partNumber")), { body, tag })
          return send(200, "", { etag: tag })
        }
        case "DELETE":
          if (uploadId === null) objects.delete(key)
          else if (!uploads.delete(uploadId)) throw new Refused(404, "NoSuchUpload")
          return send(204)
        default: {
          const found = objects.get(key)
          if (found === undefined) throw new Refused(404, "NoSuchKey")
          return sendObject(request, response, found)
        }
      }
    }

    const server = createServer((request, response) => {
      const isCopy = request.headers["x-amz-copy-source"] !== undefined
      const line = `${isCopy ? "COPY" : request.method} ${request.url}`
      requests.push(line)
      const index = faults.findIndex(({ when }) => when(line))
      const [taken] = index < 0 ? [] : faults.splice(index, 1)
      if (taken?.fault === "break") return void request.socket.destroy()
      const chunks: Array<Buffer> = []
      // Counted from the headers on, because the sender holds the whole body until the end.
      let held = Number(request.headers["content-length"] ?? "0")
      inMemory += held
      inMemoryMax = Math.max(inMemoryMax, inMemory)
      const letGo = () => {
        inMemory -= held
        held = 0
      }
      request.on("data", (chunk: Buffer) => void chunks.push(chunk))
      request.on("close", letGo)
      request.on("end", () => {
        const body = Buffer.concat(chunks)
        letGo()
        try {
          if (taken?.fault === "lose") response.writeHead = () => (request.socket.destroy(), response)
          else if (taken !== undefined) {
            throw new Refused(Number(taken.fault), "SlowDown", "Please reduce your request rate")
          }
          reply(request, response, body)
        } catch (error) {
          const { code, message, status } = error instanceof Refused
            ? error
            : new Refused(500, "InternalError", String(error))
          response.writeHead(status, { "content-type": "application/xml" })
          const text = xml(`<Error><Code>${code}</Code><Message>${escape(message)}</Message></Error>`)
          response.end(request.method === "HEAD" ? undefined : text)
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const variables = {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: bucket,
      S3_REGION: keys.region,
      S3_ACCESS_KEY_ID: keys.id,
      S3_SECRET_ACCESS_KEY: keys.secret
    }
    return {
      server,
      variables,
      objects,
      uploads,
      requests,
      /** Returns the maximum size of bodies that were in flight concurrently, in bytes. */
      bytesAtOnce: () => inMemoryMax,
      /** Makes the next requests that start with `line` fail, in that order. */
      fail: (line: string, ...next: ReadonlyArray<Fault>) => {
        for (const fault of next) faults.push({ when: (one) => one.startsWith(line), fault })
      },
      /** Executes the next matching request but drops its response. */
      loseResponseTo: (line: string) => {
        faults.push({ when: (one) => one.startsWith(line), fault: "lose" })
      }
    }
  }),
  ({ server }) =>
    Effect.promise(() => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    })
)
