import { Effect } from "effect"
import { request as plainRequest } from "node:http"
import { connect } from "node:http2"
import { Agent, request } from "node:https"
import { WebSocket } from "ws"

/** Address of the client in tests, different from the proxy's. */
export const clientAddress = "127.0.0.9"

interface Target {
  readonly authority: string
  readonly httpsPort: number
  readonly httpPort: number
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

interface Options {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: Iterable<Uint8Array>
}

/** Sends a request over TLS to a name at the proxy, and verifies the certificate. */
export const secure = (target: Target, host: string, path: string, { body, headers, method = "GET" }: Options = {}) =>
  Effect.callback<Reply, Error>((resume) => {
    const sent = request({
      host: "127.0.0.1",
      port: target.httpsPort,
      localAddress: clientAddress,
      servername: host,
      ca: target.authority,
      agent: false,
      method,
      path,
      headers: { host, ...headers }
    }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (data: string) => text += data)
      response.once(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
      )
      response.once("error", (error) => resume(Effect.fail(error)))
    })
    // A refusal may arrive before the whole body is sent.
    sent.once("error", (error) => resume(Effect.fail(error)))
    if (body === undefined) sent.end()
    else write(sent, body[Symbol.iterator]())
    return Effect.sync(() => sent.destroy())
  })

const write = (sent: ReturnType<typeof request>, parts: Iterator<Uint8Array>): void => {
  for (let part = parts.next(); part.done !== true; part = parts.next()) {
    if (sent.destroyed) return
    if (!sent.write(part.value)) return void sent.once("drain", () => write(sent, parts))
  }
  sent.end()
}

/** Sends a request without TLS. */
export const insecure = (target: Target, host: string, path: string) =>
  Effect.callback<Reply, Error>((resume) => {
    plainRequest({ host: "127.0.0.1", port: target.httpPort, path, headers: { host }, agent: false }, (response) => {
      response.resume()
      resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body: "" }))
    }).once("error", (error) => resume(Effect.fail(error))).end()
  })

/** Returns the status of a request by HTTP/2. */
export const byHttp2 = (target: Target, host: string, path: string) =>
  Effect.callback<number, Error>((resume) => {
    const session = connect(`https://${host}:${target.httpsPort}`, {
      ca: target.authority,
      servername: host,
      lookup: (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }])
    })
    session.once("error", (error) => resume(Effect.fail(error)))
    const stream = session.request({ ":path": path, ":authority": host })
    stream.once("response", (headers) => {
      session.close()
      resume(Effect.succeed(Number(headers[":status"])))
    })
    stream.resume().end()
    return Effect.sync(() => session.destroy())
  })

/** Opens a WebSocket; `next` completes with its next message. */
export const socket = (target: Target, host: string, path: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly next: Effect.Effect<string>; readonly close: () => void }, Error>((resume) => {
      const opened = new WebSocket(`wss://127.0.0.1:${target.httpsPort}${path}`, {
        agent: new Agent({ ca: target.authority, servername: host }),
        headers: { host }
      })
      const messages: Array<string> = []
      let wake = () => {}
      opened.on("message", (data: Buffer) => {
        messages.push(data.toString())
        wake()
      })
      const next = Effect.callback<string>((found) => {
        const look = () => {
          const message = messages.shift()
          if (message !== undefined) found(Effect.succeed(message))
        }
        wake = look
        look()
      })
      opened.once("open", () => resume(Effect.succeed({ next, close: () => opened.terminate() })))
      opened.once("error", (error) => resume(Effect.fail(error)))
    }),
    ({ close }) => Effect.sync(close)
  )

/** Opens a stream of server-sent events; `until` completes when its text contains a word. */
export const events = (target: Target, host: string, path: string, token: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly until: (word: string) => Effect.Effect<void>; readonly close: () => void }, Error>(
      (resume) => {
        let text = ""
        let wake = () => {}
        const sent = request({
          host: "127.0.0.1",
          port: target.httpsPort,
          servername: host,
          ca: target.authority,
          agent: false,
          path,
          headers: { host, authorization: `Bearer ${token}` }
        }, (response) => {
          response.setEncoding("utf8").on("data", (data: string) => {
            text += data
            wake()
          })
          const until = (word: string) =>
            Effect.callback<void>((found) => {
              wake = () => text.includes(word) ? found(Effect.void) : undefined
              wake()
            })
          resume(Effect.succeed({ until, close: () => sent.destroy() }))
        })
        // `destroy` also causes an 'error' event, after the result.
        sent.on("error", (error) => resume(Effect.fail(error)))
        sent.end()
      }
    ),
    ({ close }) => Effect.sync(close)
  )
