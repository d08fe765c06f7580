// A proposal with its reason. Everything in this folder is a guess from what an API answered, and marked as one.

import { type JsonObject, type JsonValue, objectOf } from '../json/json.ts'

export interface Guess<T> {
  readonly value: T
  readonly reason: string
}

export const guessed = (guess: Guess<JsonValue> | undefined, none: string): JsonObject =>
  objectOf([
    ['value', guess?.value ?? null],
    ['reason', guess?.reason ?? none],
  ])
