import { Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"

/** A request to the translation service. */
export interface TranslationRequest {
  readonly path: string
  readonly authorization: string | undefined
  // Bodies of both kinds of service.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

const read = async (request: IncomingMessage) => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Upper-cases the text between tags, except for text marked as not translatable. */
const upperCased = (html: string) =>
  html.replace(
    /<span translate="no">.*?<\/span>|<[^>]*>|[^<]+/g,
    (piece) =>
      piece.startsWith("<")
        ? piece
        : piece.replace(/&\w+;|[^&]+/g, (part) => part.startsWith("&") ? part : part.toUpperCase())
  )

/**
 * A local translation service that speaks LibreTranslate and DeepL; `fail` makes it respond with a status, and `replace`
 * with one text and source language for everything.
 */
export const translationDouble = Effect.gen(function*() {
  const asked: Array<TranslationRequest> = []
  let status: number | undefined
  let replacement: { readonly text: string; readonly language: string } | undefined
  const reply = (path: string, body: TranslationRequest["body"]): unknown => {
    switch (path) {
      case "/languages":
        return [
          { code: "de", name: "German", targets: ["de", "en", "fr"] },
          { code: "en", name: "English", targets: ["de", "en"] }
        ]
      case "/translate":
        return {
          translatedText: body.q.map((text: string) => replacement?.text ?? upperCased(text)),
          ...(body.source === "auto" && {
            detectedLanguage: body.q.map(() => ({ confidence: 90, language: replacement?.language ?? "de" }))
          })
        }
      case "/v2/languages?type=source":
        return [{ language: "DE", name: "German" }, { language: "EN", name: "English" }]
      case "/v2/languages?type=target":
        return [{ language: "DE", name: "German" }, { language: "EN-GB", name: "English" }, {
          language: "PT-BR",
          name: "Portuguese"
        }]
      case "/v2/translate":
        return {
          translations: body.text.map((text: string) => ({ detected_source_language: "DE", text: upperCased(text) }))
        }
      default:
        return undefined
    }
  }
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) =>
        void (async () => {
          const text = await read(request)
          const body = text === "" ? undefined : JSON.parse(text)
          const path = request.url ?? ""
          asked.push({ path, authorization: request.headers.authorization, body })
          const found = reply(path, body)
          response.writeHead(status ?? (found === undefined ? 404 : 200), { "content-type": "application/json" })
          response.end(JSON.stringify(found ?? {}))
        })()
      )
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    /** Translation requests it received. */
    translations: () => asked.filter(({ path }) => path.endsWith("/translate")),
    fail: (code: number | undefined) => {
      status = code
    },
    replace: (text: string, language: string) => {
      replacement = { text, language }
    }
  }
})
