// The syntax tree of a template.

export type Expression =
  | { readonly kind: 'block text' }
  | { readonly kind: 'constant'; readonly value: unknown }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly kind: 'dict'; readonly items: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'attribute'; readonly of: Expression; readonly name: string }
  | { readonly kind: 'item'; readonly of: Expression; readonly key: Expression }
  | { readonly kind: 'slice'; readonly of: Expression; readonly parts: readonly (Expression | undefined)[] }
  | { readonly kind: 'call'; readonly of: Expression; readonly args: Arguments }
  | { readonly kind: 'filter'; readonly of: Expression; readonly name: string; readonly args: Arguments }
  | { readonly kind: 'test'; readonly of: Expression; readonly name: string; readonly args: Arguments; readonly not: boolean }
  | { readonly kind: 'unary'; readonly operator: '-' | '+' | 'not'; readonly of: Expression }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: 'compare'; readonly first: Expression; readonly rest: readonly (readonly [string, Expression])[] }
  | { readonly kind: 'concat'; readonly items: readonly Expression[] }
  | {
      readonly kind: 'condition'
      readonly test: Expression
      readonly whenTrue: Expression
      readonly otherwise: Expression | undefined
    }

export interface Arguments {
  readonly positional: readonly Expression[]
  readonly named: readonly (readonly [string, Expression])[]
  /** After `*` and `**`. */
  readonly list?: Expression | undefined
  readonly dict?: Expression | undefined
}

/** A name, or several that a value is unpacked into. */
export type Target = string | readonly Target[]

/** The parameters of a macro, or of the body of a call block. */
export interface Signature {
  readonly names: readonly string[]
  /** Of the last names. */
  readonly defaults: readonly Expression[]
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly value: Expression }
  | { readonly kind: 'if'; readonly branches: readonly (readonly [Expression | undefined, readonly Node[]])[] }
  | {
      readonly kind: 'for'
      readonly target: Target
      readonly items: Expression
      readonly test: Expression | undefined
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
      readonly recursive: boolean
    }
  | { readonly kind: 'set'; readonly target: Target; readonly member: string | undefined; readonly value: Expression }
  | {
      readonly kind: 'set block'
      readonly target: Target
      readonly member: string | undefined
      readonly filter: FilterOf | undefined
      readonly body: readonly Node[]
    }
  | { readonly kind: 'filter block'; readonly filter: FilterOf; readonly body: readonly Node[] }
  | { readonly kind: 'with'; readonly values: readonly (readonly [Target, Expression])[]; readonly body: readonly Node[] }
  | ({ readonly kind: 'macro'; readonly name: string; readonly body: readonly Node[] } & Signature)
  | ({ readonly kind: 'call block'; readonly call: Expression; readonly body: readonly Node[] } & Signature)
  | { readonly kind: 'block'; readonly name: string; readonly scoped: boolean; readonly body: readonly Node[] }
  /** Another template, of which there are none. */
  | { readonly kind: 'load'; readonly template: Expression; readonly names: readonly string[] }

/** Filters around `inner`, which stands for the text of a block. */
export interface FilterOf {
  readonly expression: Expression
}
