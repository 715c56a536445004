import { preferredOffer } from "../guard/Accept.ts"

/** Returns true if a request's `Accept` header is that of a browser opening a page: it prefers HTML to JSON. */
export const acceptsPage = (accept: string | undefined): boolean => preferredOffer(accept, "json", "page") === "page"
