// The syntax tree of a template.

export type Expression =
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
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'output'; readonly value: Expression }
  | { readonly kind: 'if'; readonly branches: readonly (readonly [Expression | undefined, readonly Node[]])[] }
  | {
      readonly kind: 'for'
      readonly names: readonly string[]
      readonly items: Expression
      readonly test: Expression | undefined
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
    }
  | {
      readonly kind: 'set'
      readonly names: readonly string[]
      readonly member: string | undefined
      readonly value: Expression | readonly Node[]
    }
