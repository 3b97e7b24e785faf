/* The table of status codes as text. */
#include "ionf_status.h"

static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
    IONF_STATUS_TABLE(STATUS_TEXT)
#undef STATUS_TEXT
};

static const char *const names[] = {
#define STATUS_NAME(name, text) #name,
    IONF_STATUS_TABLE(STATUS_NAME)
#undef STATUS_NAME
};

const char *
ionf_status_text(ionf_status status)
{
    return (unsigned)status < IONF_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *
ionf_status_name(ionf_status status)
{
    return (unsigned)status < IONF_STATUS_COUNT ? names[status] : "unknown status";
}
