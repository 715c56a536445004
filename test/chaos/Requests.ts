import { type Agent, request } from "node:http"

/** Timeout of a client's request, in milliseconds. */
const timeoutMillis = 10_000

export interface Reply {
  readonly status: number
  readonly text: string
}

/**
 * Sends a request on a persistent connection; the response text is returned only on request. Status 0 means a broken
 * connection or a timeout.
 */
export const send = (
  agent: Agent,
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string | undefined,
  wantsText: boolean
) =>
  new Promise<Reply>((resolve) => {
    let text = ""
    const sent = request(url, { agent, method, headers }, (response) => {
      if (wantsText) response.setEncoding("utf8").on("data", (data: string) => text += data)
      else response.resume()
      response.once("end", () => end({ status: response.statusCode ?? 0, text })).once("error", broken)
    })
    const broken = () => end({ status: 0, text: "" })
    const timeout = setTimeout(() => {
      sent.destroy()
      broken()
    }, timeoutMillis)
    const end = (reply: Reply) => {
      clearTimeout(timeout)
      resolve(reply)
    }
    sent.once("error", broken)
    sent.end(body)
  })
