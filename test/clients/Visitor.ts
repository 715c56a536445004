import type { Reply } from "../support/Requests.ts"
import { formsOf } from "../support/TestBrowser.ts"

/** A user whose browser has no scripts, who reads pages and submits forms. */
export class Visitor {
  readonly #cookies = new Map<string, string>()
  readonly #baseUrl: string

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  async #request(path: string, init: RequestInit = {}): Promise<Reply> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(new URL(path, this.#baseUrl), {
      redirect: "manual",
      ...init,
      headers: { cookie, origin: this.#baseUrl }
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      this.#cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text(), body: undefined }
  }

  /** Opens the page at a path and follows redirects on the server; returns a redirect to another server as it is. */
  async open(path: string): Promise<Reply> {
    return this.#follow(await this.#request(path))
  }

  /** Submits a form of a page with the given fields. */
  async submit(page: Reply, written: Record<string, string> = {}, index = 0): Promise<Reply> {
    const form = formsOf(page)[index]
    if (form === undefined) throw new Error(`There is no form ${index} in ${page.status} ${page.text}`)
    const body = new URLSearchParams({ ...form.fields, ...written })
    return this.#follow(await this.#request(form.action, { method: "POST", body }))
  }

  async #follow(reply: Reply): Promise<Reply> {
    const location = reply.headers.get("location")
    if (location === null) return reply
    const target = new URL(location, this.#baseUrl)
    return target.origin === this.#baseUrl ? this.open(target.pathname + target.search) : reply
  }
}

type Person = { readonly username: string; readonly password: string }

/** Signs in and allows the request of an app at the path `authorize`. */
const consent = async (baseUrl: string, authorize: string, { password, username }: Person): Promise<Reply> => {
  const visitor = new Visitor(baseUrl)
  const signIn = await visitor.open(authorize)
  return visitor.submit(await visitor.submit(signIn, { email: `${username}@example.org`, password }))
}

/** Returns the redirect address of an allowed app, with the code. */
export const allow = async (baseUrl: string, authorize: string, person: Person): Promise<URL> => {
  const reply = await consent(baseUrl, authorize, person)
  return new URL(reply.headers.get("location") ?? `none:${reply.status}`)
}

/** Returns the code that a user copies from the page, for apps without a redirect URI. */
export const copyCode = async (baseUrl: string, authorize: string, person: Person): Promise<string> => {
  const { text } = await consent(baseUrl, authorize, person)
  return /<code[^>]*>([^<]+)<\/code>/.exec(text)?.[1] ?? ""
}
