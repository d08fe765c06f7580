// `in.c-shop.orders`: the table `orders` of the bucket `in.c-shop`.

export const bucketOf = (tableId: string): string => tableId.slice(0, tableId.lastIndexOf('.'))

export const tableNameOf = (tableId: string): string => tableId.slice(tableId.lastIndexOf('.') + 1)
