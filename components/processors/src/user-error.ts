// One class for all components: what is shared by them throws it, too.

export { UserError } from '../../http-extractor/src/errors.ts'
