export { layer } from "./Timelines.ts"
