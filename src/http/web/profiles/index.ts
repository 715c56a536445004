export { layer } from "./ProfilePages.ts"
