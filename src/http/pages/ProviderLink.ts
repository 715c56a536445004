import type { ProviderConfig } from "../../services/instance/ServerConfig.ts"
import { providerPath } from "../../services/oidc/ProviderPaths.ts"
import { type Html, html } from "../html/Html.ts"
import type { PageReader } from "../html/Visitors.ts"

/** Renders the link that begins a sign-in by the identity provider; `to` is the path to open afterwards. */
export const providerLink = ({ words: { say } }: PageReader, { name: provider }: ProviderConfig, to: string): Html =>
  html`<p><a class="button" href="${providerPath}?${new URLSearchParams([["return_to", to]])}">${
    say("Sign in with {provider}", { provider })
  }</a></p>`
