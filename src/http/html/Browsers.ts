import { preferredOffer } from "../guard/Accept.ts"

/** Returns whether a request's `Accept` header is a browser's that opens a page: it prefers HTML to JSON. */
export const acceptsPage = (accept: string | undefined): boolean => preferredOffer(accept, "json", "page") === "page"
