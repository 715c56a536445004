import { type Agent, request } from "node:http"

/** How long a client waits for an answer, in milliseconds. */
const patienceMillis = 10_000

export interface Answer {
  readonly status: number
  readonly text: string
}

/** One request on a connection that is kept; the text of an answer only where it is wanted. Status 0 where it broke, or took too long. */
export const send = (
  agent: Agent,
  url: string,
  method: string,
  headers: Record<string, string>,
  body: string | undefined,
  wantsText: boolean
) =>
  new Promise<Answer>((resolve) => {
    let text = ""
    const sent = request(url, { agent, method, headers }, (response) => {
      if (wantsText) response.setEncoding("utf8").on("data", (data: string) => text += data)
      else response.resume()
      response.once("end", () => end({ status: response.statusCode ?? 0, text })).once("error", broken)
    })
    const broken = () => end({ status: 0, text: "" })
    const patience = setTimeout(() => {
      sent.destroy()
      broken()
    }, patienceMillis)
    const end = (answer: Answer) => {
      clearTimeout(patience)
      resolve(answer)
    }
    sent.once("error", broken)
    sent.end(body)
  })
